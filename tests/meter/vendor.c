#include "vendor.h"

#include "base/failing.h"

#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (address == NULL) fail_msg("the stand-in has no %s", name);
    return address;
}

void vendor_use(vendor_stub *stub, const char *variable, const char *settings, const char *file)
{
    *stub = (vendor_stub){.variable = variable, .settings = settings};
    setenv(variable, file, 1);
    vendor_set(stub, NULL);
    vendor_write(stub, NULL);
    stub->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (stub->library == NULL) fail_msg("%s", dlerror());
    void *addresses[] = {symbol(stub->library, "stub_balance"), symbol(stub->library, "stub_misuse"), symbol(stub->library, "stub_starts")};
    memcpy(&stub->balance, &addresses[0], sizeof stub->balance);
    memcpy(&stub->misuse, &addresses[1], sizeof stub->misuse);
    memcpy(&stub->starts, &addresses[2], sizeof stub->starts);
}

void vendor_set(const vendor_stub *stub, const char *settings)
{
    if (settings != NULL)
        setenv(stub->settings, settings, 1);
    else
        unsetenv(stub->settings);
}

void vendor_write(const vendor_stub *stub, const char *settings)
{
    char name[64], path[128], temporary[160];
    snprintf(name, sizeof name, "%s_FILE", stub->settings);
    if (settings == NULL) {
        if (getenv(name) != NULL) unlink(getenv(name));
        unsetenv(name);
        return;
    }
    snprintf(path, sizeof path, "/tmp/yoke-stub-%s-%ld", stub->variable, (long)getpid());
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    assert_non_null(file);
    assert_true(fputs(settings, file) >= 0 && fclose(file) == 0 && rename(temporary, path) == 0);
    if (getenv(name) == NULL) setenv(name, path, 1);
}

vendor_found vendor_find(const meter_kind *kind, const char *root)
{
    vendor_found found;
    assert_int_equal(yoke_context_create(NULL, &found.context), YOKE_OK);
    found.list = (meter_list){.context = found.context};
    meter_site site = {.context = found.context, .root = root};
    yoke_status status = kind->find(&site, &found.list);
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(found.context));
    assert_true(found.list.count > 0);
    return found;
}

void vendor_end(vendor_found *found, const vendor_stub *stub)
{
    meter_list_clear(&found->list);
    yoke_context_destroy(found->context);
    assert_int_equal(stub->balance(), 0);
    assert_int_equal(stub->misuse(), 0);
}

const meter_domain *vendor_domain(const vendor_found *found, const char *name)
{
    for (int64_t i = 0; i < found->list.count; i++) {
        const meter_domain *domain = &found->list.domains[i];
        if (strcmp(domain->info.name, name) != 0) continue;
        if (!domain->info.usable) fail_msg("%s: %s; %s", name, domain->info.why_not, domain->info.remedy);
        assert_non_null(domain->read);
        return domain;
    }
    fail_msg("no meter %s", name);
    return NULL;
}

void vendor_mentions(const char *text, const char *word)
{
    if (strstr(text, word) == NULL) fail_msg("'%s' does not say '%s'", text, word);
}

void vendor_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g is not %.17g +- %g", value, expected, tolerance);
}

void vendor_expect_missing(const meter_kind *kind, const vendor_stub *stub, const char *why, const char *remedy)
{
    vendor_found found = vendor_find(kind, "");
    assert_int_equal(found.list.count, 1);
    const yoke_meter_info *info = &found.list.domains[0].info;
    assert_false(info->usable);
    assert_null(found.list.domains[0].read);
    vendor_mentions(info->why_not, why);
    vendor_mentions(info->remedy, remedy);
    vendor_end(&found, stub);
}

meter_sample vendor_read(const meter_domain *domain)
{
    meter_sample sample;
    char why[METER_WHY_BYTES] = "";
    memset(&sample, 0xff, sizeof sample);
    if (domain->read(domain->state, &sample, why) != METER_READ) fail_msg("%s: %s", domain->info.name, why);
    return sample;
}

/* --------------------------------------------------------------------------------------------- allocations */

void vendor_fail_allocations(const meter_kind *kind, const vendor_stub *stub)
{
    int failures = 0;
    for (yoke_status status = YOKE_ERROR_MEMORY; status != YOKE_OK; failures++) {
        failing memory = {.fail_at = 0};
        yoke_options options = failing_options(&memory);
        yoke_context *context;
        assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
        meter_list list = {.context = context};
        meter_site site = {.context = context, .root = ""};
        failing_allow(&memory, failures);
        status = kind->find(&site, &list);
        if (status != YOKE_OK) assert_int_equal(status, YOKE_ERROR_MEMORY);
        meter_list_clear(&list);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
        assert_int_equal(stub->balance(), 0);
        assert_true(failures < 100);
    }
    assert_true(failures > 2); /* of the last round none */
}
