#include "space/forest/places.h"

enum { UNUSED = -2 };

static uint64_t hash(uint32_t entity, uint64_t place)
{
    uint64_t z = (place ^ (uint64_t)entity * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 32)) * 0x94D049BB133111EBu;
    return z ^ (z >> 29);
}

static yoke_status allocate(fem_places *places, uint64_t size)
{
    yoke_status status = yoke_allocate_untouched(places->context, (int64_t)size, sizeof *places->entry, &places->entry);
    if (status) return status;
    for (uint64_t i = 0; i < size; i++) places->entry[i].number = UNUSED;
    places->mask = size - 1;
    places->used = 0;
    return YOKE_OK;
}

yoke_status fem_places_start(fem_places *places, yoke_context *context, int64_t expected)
{
    uint64_t size = 16;
    while (size < 2 * (uint64_t)expected) size *= 2;
    *places = (fem_places){.context = context};
    return allocate(places, size);
}

void fem_places_end(fem_places *places)
{
    if (!places->context) return;
    yoke_release(places->context, places->entry);
    places->entry = NULL;
}

/* Returns the entry of the place, or the unused entry where it belongs. */
static fem_place *find(const fem_places *places, uint32_t entity, uint64_t place)
{
    uint64_t i = hash(entity, place) & places->mask;
    for (;; i = (i + 1) & places->mask) {
        fem_place *entry = &places->entry[i];
        if (entry->number == UNUSED || (entry->place == place && entry->entity == entity)) return entry;
    }
}

static yoke_status grow(fem_places *places)
{
    fem_places larger = {.context = places->context};
    yoke_status status = allocate(&larger, 2 * (places->mask + 1));
    if (status) return status;
    for (uint64_t i = 0; i <= places->mask; i++) {
        const fem_place *entry = &places->entry[i];
        if (entry->number != UNUSED) *find(&larger, entry->entity, entry->place) = *entry;
    }
    larger.used = places->used;
    fem_places_end(places);
    *places = larger;
    return YOKE_OK;
}

int32_t *fem_places_number(fem_places *places, uint32_t entity, uint64_t place)
{
    fem_place *entry = find(places, entity, place);
    if (entry->number != UNUSED) return &entry->number;
    if (3 * (uint64_t)places->used > 2 * places->mask) {
        if (grow(places)) return NULL;
        entry = find(places, entity, place);
    }
    places->used++;
    *entry = (fem_place){place, entity, -1};
    return &entry->number;
}

int fem_places_has(const fem_places *places, uint32_t entity, uint64_t place) { return find(places, entity, place)->number != UNUSED; }
