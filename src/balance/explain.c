/* A decision in words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "balance/balance.h"

typedef struct text_line {
    char *text;
    size_t size, length;
} text_line;

static void add(text_line *line, const char *format, ...) YOKE_PRINTF(2, 3);
static void add(text_line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->length, line->size - line->length, format, arguments);
    va_end(arguments);
    if (length > 0) line->length += (size_t)length;
    if (line->length >= line->size) line->length = line->size - 1;
}

static void add_seconds(text_line *line, const char *what, double seconds)
{
    if (isnan(seconds))
        add(line, "%s not known", what);
    else
        add(line, "%s %.4g s", what, seconds);
}

static void add_decision(const yoke_balancer *balancer, text_line *line)
{
    double gain = balancer->kept_s - balancer->best_s;
    bool known = gain >= 0 && balancer->kept_s > 0;
    switch (balancer->decision) {
    case BALANCE_START:
        add(line, "start: nothing was measured yet");
        break;
    case BALANCE_KEPT:
        if (balancer->policy == YOKE_BALANCE_ADAPTIVE && known)
            add(line, "kept: a gain of %.2g %% is within the noise", 100 * gain / balancer->kept_s);
        else
            add(line, "kept: the policy finds the same shares");
        break;
    case BALANCE_COSTS:
        add(line, "kept: moving would cost %.3g s, more than the gain of %.3g s a call (%.2g %%) brings in the rounds to come",
            balancer->cost_s, gain, 100 * gain / balancer->kept_s);
        break;
    case BALANCE_MOVED:
        if (known)
            add(line, "moved: gain %.3g s a call (%.2g %%)", gain, 100 * gain / balancer->kept_s);
        else
            add(line, "moved: by the policy");
        if (balancer->cost_s > 0) add(line, " for %.3g s of moving", balancer->cost_s);
        break;
    case BALANCE_RESIZED:
        add(line, "new shares: the total or the devices are others than before");
        break;
    case BALANCE_PROBED:
        add(line, "probed: an idle device gets a unit to be measured again");
        break;
    }
}

/* Adds how the device's speed has changed in this round. */
static void add_change(const yoke_balancer *balancer, const speed_model *model, model_verdict verdict, text_line *line)
{
    double factor = model->factor;
    if (verdict != MODEL_CHANGED) return;
    if (!(factor > 0))
        add(line, ", the device has changed");
    else if (model->level == 1)
        add(line, ", is as fast again as before its change, by a factor %.3g in round %lld", factor < 1 ? 1 / factor : factor,
            (long long)balancer->round);
    else
        add(line, ", changed its speed by a factor %.3g in round %lld (%s)", factor < 1 ? 1 / factor : factor, (long long)balancer->round,
            factor < 1 ? "faster" : "slower");
}

static void add_device(const yoke_balancer *balancer, int i, text_line *line)
{
    static const char *const verdicts[] = {
        "", "", "", ", not believed until seen again", "", ", the change of the round before was a disturbance and is taken back"};
    const balance_device *device = &balancer->device[i];
    add(line, "; device %d: ", i);
    if (balancer->n >= 0)
        add(line, "%lld -> %lld units", (long long)device->had, (long long)device->next);
    else
        add(line, "%lld units", (long long)device->had);
    if (device->had > 0) {
        add_seconds(line, ", predicted", device->planned_s);
        add_seconds(line, ", measured", device->measured_s);
        if (!isnan(device->energy_j)) add(line, ", %.4g J", device->energy_j);
        add(line, "%s", verdicts[device->verdict]);
        add_change(balancer, &device->model, device->verdict, line);
        if (device->model.drifting) add(line, ", slower by %.2g %% a round", 100 * device->model.drift);
    }
    if (device->most == 0)
        add(line, ", taken out");
    else if (device->dropped)
        add(line, ", dropped: copying a unit takes %.3g s, the others need %.3g s for it in all calls that the copy serves (eq. 23)",
            device->copy_s, device->copy_limit_s);
}

yoke_status yoke_balancer_explain(const yoke_balancer *balancer, char **text)
{
    if (balancer == NULL || text == NULL)
        return yoke_fail(balancer ? balancer->context : NULL, YOKE_ERROR_ARGUMENT,
                         "yoke_balancer_explain: balancer and text must not be NULL");
    text_line line = {.size = 512 + (size_t)balancer->devices * 384};
    void *memory = NULL;
    yoke_status status = yoke_allocate(balancer->context, (int64_t)line.size, 1, &memory);
    if (status) return status;
    line.text = memory;
    add(&line, "round %lld: ", (long long)balancer->round);
    add_decision(balancer, &line);
    if (balancer->measured_s > 0) {
        double units = 0;
        for (int i = 0; i < balancer->devices; i++) units += (double)balancer->device[i].had;
        add(&line, "; makespan %.4g s, %.2g %% above the best share seen", balancer->measured_s * units,
            100 * (balancer->measured_s / balancer->best_seen_s - 1));
    }
    for (int i = 0; i < balancer->devices && balancer->round > 0; i++) add_device(balancer, i, &line);
    *text = line.text;
    return YOKE_OK;
}
