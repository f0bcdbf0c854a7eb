/*
 * waves.h - plane waves of the children of a cell, one child in each lane; part of expansion.c.
 *
 * The work array has expansions, then the Fourier modes of all rings, then waves at their angles: [wave][direction, 0 up and 1 down][real,
 * imaginary][PER] vectors.
 */
enum {
    FAMILY = 8,           /* children */
    PER = FAMILY / LANES, /* vectors of one value for all children */
    BOTH = 2 * PER,       /* the same for upward and downward waves, or for real and imaginary parts */
    TOGETHER = BOTH < MAX_WIDE ? BOTH : MAX_WIDE,
    MOST_ANGLES = FMM_MAX_ANGLES_OF_RING / 4, /* in a quarter of a turn */
    LINE = 8,                                 /* doubles in a cache line */
    AHEAD = 2,                                /* number of lines of a row that are prefetched */
    MOST_TERMS = FMM_MAX_WAVE_ORDER / 2 + 1   /* degrees or modes of one parity */
};

/* Computes the product of a matrix with `columns` values of BOTH vectors each. */
INLINE void product(int rows, int columns, const double *matrix, const vector *in, vector *out)
{
    for (int v = 0; v < BOTH; v += TOGETHER)
        for (int row = 0, some; row < rows; row += some) {
            some = rows_next(TOGETHER, rows - row);
            BY_ROWS(some, dense_rows, TOGETHER, BOTH, BOTH, columns, matrix + row * columns, in + v, out + row * BOTH + v)
        }
}

typedef struct wave {
    vector real, imaginary;
} wave;

INLINE wave wave_sum(wave a, wave b) { return (wave){a.real + b.real, a.imaginary + b.imaginary}; }

INLINE void wave_add(wave *sum, wave a, wave factor)
{
    sum->real += a.real * factor.real - a.imaginary * factor.imaginary;
    sum->imaginary += a.real * factor.imaginary + a.imaginary * factor.real;
}

/* ------------------------------------------------------------------------------------------------------ modes */

/* The position of mode m of a ring: first the real parts, up and down, of all modes of its parity, then the imaginary parts. */
INLINE vector *mode_at(const fmm_wave_tables *t, vector *modes, int ring, int m)
{
    const int even = t->modes[ring] / 2 + 1;
    return modes + PER * t->mode_first[ring] + (m & 1 ? 2 * even * BOTH : 0) + m / 2 * BOTH;
}

INLINE int modes_like(const fmm_wave_tables *t, int ring, int m) { return (t->modes[ring] + (m & 1 ? 1 : 2)) / 2; }

/* The number of degrees m, m + 2, ... or m + 1, m + 3, ... up to the order. */
INLINE int degrees_of(int order, int m, int parity) { return order - m - parity < 0 ? 0 : (order - m - parity) / 2 + 1; }

INLINE void modes_of(const fmm_wave_tables *t, const vector *values, vector *modes)
{
    const int n = fmm_harmonics(t->order);
    for (int m = 0; m <= t->most_modes; m++) {
        const int lowest = t->lowest[m], rings = t->rings - lowest;
        vector in[MOST_TERMS * BOTH], out[2][FMM_MAX_RINGS * BOTH];
        for (int parity = 0; parity < 2; parity++) {
            const int degrees = degrees_of(t->order, m, parity);
            for (int i = 0, l = m + parity; i < degrees; i++, l += 2)
                for (int v = 0; v < PER; v++) {
                    in[i * BOTH + v] = values[fmm_harmonic(l, m) * PER + v];
                    in[i * BOTH + PER + v] = values[(n + fmm_harmonic(l, m)) * PER + v];
                }
            if (degrees)
                product(rings, degrees, t->powers[parity][m], in, out[parity]);
            else
                for (int i = 0; i < rings * BOTH; i++) out[parity][i] = spread(0);
        }
        for (int i = 0; i < rings; i++) {
            const vector *up = (const vector *)(t->growth + (lowest + i) * 2 * FAMILY), *down = up + PER;
            vector *mode = mode_at(t, modes, lowest + i, m), *imaginary = mode + modes_like(t, lowest + i, m) * BOTH;
            for (int v = 0; v < PER; v++) {
                const vector *even = out[0] + i * BOTH + v, *odd = out[1] + i * BOTH + v;
                mode[v] = up[v] * (even[0] + odd[0]), mode[PER + v] = down[v] * (even[0] - odd[0]);
                imaginary[v] = up[v] * (even[PER] + odd[PER]), imaginary[PER + v] = down[v] * (even[PER] - odd[PER]);
            }
        }
    }
}

/* Converts received modes to degrees: the sums and differences of modes from below and above give the degrees of the two parities. */
INLINE void degrees_from(const fmm_wave_tables *t, vector *modes, vector *values)
{
    const int n = fmm_harmonics(t->order);
    for (int i = 0; i < 2 * n * PER; i++) values[i] = spread(0);
    for (int m = 0; m <= t->most_modes; m++) {
        const int lowest = t->lowest[m], rings = t->rings - lowest;
        vector in[FMM_MAX_RINGS * BOTH], out[MOST_TERMS * BOTH];
        for (int parity = 0; parity < 2; parity++) {
            const int degrees = degrees_of(t->order, m, parity);
            for (int i = 0; i < rings; i++)
                for (int v = 0; v < PER; v++) {
                    const vector *mode = mode_at(t, modes, lowest + i, m) + parity * PER + v;
                    in[i * BOTH + v] = mode[0], in[i * BOTH + PER + v] = mode[modes_like(t, lowest + i, m) * BOTH];
                }
            if (degrees) product(degrees, rings, t->powers_back[parity][m], in, out);
            for (int i = 0, l = m + parity; i < degrees; i++, l += 2)
                for (int v = 0; v < PER; v++) {
                    values[fmm_harmonic(l, m) * PER + v] = out[i * BOTH + v];
                    values[(n + fmm_harmonic(l, m)) * PER + v] = out[i * BOTH + PER + v];
                }
        }
    }
}

/* ----------------------------------------------------------------------------------------------------- angles */

/* Values of one ring at the angles of a quarter: cosine and sine sums of even and odd modes. */
typedef struct quarter {
    vector cosine[2][MOST_ANGLES * BOTH], sine[2][MOST_ANGLES * BOTH];
} quarter;

INLINE void angles_of(const fmm_wave_tables *t, int ring, vector *modes, vector *waves)
{
    quarter sum;
    const int quarter_angles = t->angles[ring] / 4;
    for (int parity = 0; parity < 2; parity++) {
        const int count = modes_like(t, ring, parity);
        const vector *mode = mode_at(t, modes, ring, parity);
        for (int i = 0; i < quarter_angles * BOTH && !count; i++) sum.cosine[parity][i] = sum.sine[parity][i] = spread(0);
        if (!count) continue;
        product(quarter_angles, count, t->cosines[parity][ring], mode, sum.cosine[parity]);
        product(quarter_angles, count, t->sines[parity][ring], mode + count * BOTH, sum.sine[parity]);
    }
    for (int beyond = 0; beyond < 2; beyond++) /* gamma, and pi - gamma */
        for (int j = 0; j < quarter_angles; j++) {
            const int at = t->first[ring] + beyond * quarter_angles + j;
            const vector *phase = (const vector *)(t->phase + at * 2 * FAMILY), *turned = phase + PER;
            vector *out = waves + at * 2 * BOTH;
            for (int way = 0; way < 2; way++)
                for (int v = 0; v < PER; v++) {
                    const int i = j * BOTH + way * PER + v;
                    const vector real = beyond ? sum.cosine[0][i] - sum.sine[0][i] : sum.cosine[0][i] + sum.sine[0][i];
                    const vector imaginary = beyond ? sum.sine[1][i] - sum.cosine[1][i] : sum.sine[1][i] + sum.cosine[1][i];
                    out[way * BOTH + v] = phase[v] * real - turned[v] * imaginary;
                    out[way * BOTH + PER + v] = phase[v] * imaginary + turned[v] * real;
                }
        }
}

/* The reverse of angles_of: converts all waves of a ring to modes, as sums and differences of both directions. */
INLINE void modes_from(const fmm_wave_tables *t, int ring, const vector *waves, vector *modes)
{
    quarter sum;
    const int quarter_angles = t->angles[ring] / 4;
    const vector *growth = (const vector *)(t->growth + ring * 2 * FAMILY);
    for (int j = 0; j < quarter_angles; j++)
        for (int v = 0; v < PER; v++) {
            vector real[2][2], imaginary[2][2]; /* [beyond][sum, difference] */
            for (int beyond = 0; beyond < 2; beyond++) {
                const int at = t->first[ring] + beyond * quarter_angles + j;
                const vector *phase = (const vector *)(t->phase + at * 2 * FAMILY) + v, *in = waves + at * 2 * BOTH + v;
                wave way[2];
                for (int i = 0; i < 2; i++) { /* an upward wave has the factor that downward waves have in modes_of, and vice versa */
                    const vector factor = growth[(1 - i) * PER + v], a = in[i * BOTH] * factor, b = in[i * BOTH + PER] * factor;
                    way[i] = (wave){phase[0] * a + phase[PER] * b, phase[0] * b - phase[PER] * a};
                }
                real[beyond][0] = way[0].real + way[1].real, real[beyond][1] = way[0].real - way[1].real;
                imaginary[beyond][0] = way[0].imaginary + way[1].imaginary;
                imaginary[beyond][1] = way[0].imaginary - way[1].imaginary;
            }
            for (int parity = 0; parity < 2; parity++) {
                const int i = j * BOTH + parity * PER + v;
                sum.cosine[0][i] = real[0][parity] + real[1][parity], sum.sine[0][i] = real[0][parity] - real[1][parity];
                sum.cosine[1][i] = imaginary[0][parity] - imaginary[1][parity];
                sum.sine[1][i] = imaginary[0][parity] + imaginary[1][parity];
            }
        }
    for (int parity = 0; parity < 2; parity++) {
        const int count = modes_like(t, ring, parity);
        vector *mode = mode_at(t, modes, ring, parity);
        if (!count) continue;
        product(count, quarter_angles, t->cosines_back[parity][ring], sum.cosine[parity], mode);
        product(count, quarter_angles, t->sines_back[parity][ring], sum.sine[parity], mode + count * BOTH);
    }
}

/* ----------------------------------------------------------------------------------------------------- families */

/*
 * Waves of a family about its parent's centre: [up, down][padded / LINE][row][real, imaginary][LINE].  A row contains children that are
 * always used together: for axis z the lower and the upper ones, for y also separated by their position in x', for x each child.  Receiving
 * therefore reads a family's waves sequentially.
 */
INLINE int rows_of(int axis) { return axis == 0 ? 8 : axis == 1 ? 4 : 2; }
INLINE int row_of(int axis, int child) { return axis == 0 ? child : axis == 1 ? (child >> 2) * 2 + (child & 1) : child >> 2; }

/* The distance in doubles to the next row, and the position of the next LINE waves of all rows. */
enum { ROW = 2 * LINE };
INLINE size_t line_of(const fmm_wave_tables *t, int axis, int way, int at)
{
    return (size_t)(way * t->padded / LINE + at / LINE) * (size_t)(rows_of(axis) * ROW) + (size_t)(at % LINE);
}

INLINE wave load_wave(const double *row) { return (wave){*(const vector *)row, *(const vector *)(row + LINE)}; }

INLINE void send_rows(const fmm_wave_tables *t, int axis, const vector *waves, double *family)
{
    const int rows = rows_of(axis);
    for (int at = 0; at < t->padded; at += LANES)
        for (int way = 0; way < 2; way++)
            for (int part = 0; part < 2; part++) {
                vector row[FAMILY] = {{0}};
                for (int v = 0; v < PER; v++) {
                    vector block[LANES];
                    for (int i = 0; i < LANES; i++) block[i] = waves[(at + i) * 2 * BOTH + way * BOTH + part * PER + v];
                    transpose(block);
                    for (int i = 0; i < LANES; i++) row[row_of(axis, v * LANES + i)] += block[i];
                }
                for (int r = 0; r < rows; r++) *(vector *)(family + line_of(t, axis, way, at) + r * ROW + part * LINE) = row[r];
            }
}

/* The sum of the rows of a family that act on the same children of a target.  across: the family's position in x', y' relative to the
 * target. */
INLINE wave act(int axis, const double *rows, int z, const int across[2])
{
    wave sum = {spread(0), spread(0)};
    for (int y = 0; y < (axis == 0 ? 2 : 1); y++)
        for (int x = 0; x < (axis < 2 ? 2 : 1); x++) {
            if (axis < 2 && across[0] && x != (across[0] < 0)) continue;
            if (axis < 1 && across[1] && y != (across[1] < 0)) continue;
            const double *row = rows + (axis == 0 ? 4 * z + 2 * y + x : axis == 1 ? 2 * z + x : z) * ROW;
            const double *ahead = row + AHEAD * rows_of(axis) * ROW;
            __builtin_prefetch(ahead), __builtin_prefetch(ahead + LINE);
            sum = wave_sum(sum, load_wave(row));
        }
    return sum;
}

/* Receives LANES waves of one direction from the nine families on the side from which they come. */
INLINE void receive_rows(const fmm_wave_tables *t, int axis, int way, const double *const near[9], int at, vector *waves)
{
    const double *shifts = t->shifts + at / LINE * 9 * ROW + at % LINE;
    wave child[FAMILY];
    for (int half = 0; half < 2;
         half++) { /* sources of one half act on all children, those of the other half on children of the other half only */
        const int z = half ? !way : way;
        wave sum[3][3]; /* for all children in y' and x', for those at 0, and for those at 1 */
        for (int i = 0; i < 9; i++) sum[i / 3][i % 3] = (wave){spread(0), spread(0)};
#pragma GCC unroll 9
        for (int d = 0; d < 9; d++) {
            if (!near[d]) continue;
            const int across[2] = {d % 3 - 1, d / 3 - 1};
            const int x = axis < 2 && across[0] ? 1 + (across[0] > 0) : 0, y = axis < 1 && across[1] ? 1 + (across[1] > 0) : 0;
            wave_add(&sum[y][x], act(axis, near[d] + line_of(t, axis, way, at), z, across), load_wave(shifts + d * ROW));
        }
        for (int i = 0; i < 4; i++) {
            const int x = i & 1, y = i >> 1;
            wave all = wave_sum(wave_sum(sum[0][0], sum[0][1 + x]), wave_sum(sum[1 + y][0], sum[1 + y][1 + x]));
            child[4 * z + i] = half ? wave_sum(all, child[4 * way + i]) : all;
        }
    }
    for (int v = 0; v < PER; v++)
        for (int part = 0; part < 2; part++) {
            vector block[LANES];
            for (int i = 0; i < LANES; i++) block[i] = part ? child[v * LANES + i].imaginary : child[v * LANES + i].real;
            transpose(block);
            for (int i = 0; i < LANES; i++) waves[(at + i) * 2 * BOTH + way * BOTH + part * PER + v] = block[i];
        }
}

/* ----------------------------------------------------------------------------------------------------- kernels */

typedef struct wave_room {
    vector *values, *modes, *waves;
} wave_room;

INLINE wave_room room_of(const fmm_wave_tables *t, double *work)
{
    vector *values = (vector *)work, *modes = values + 2 * fmm_harmonics(t->order) * PER;
    return (wave_room){values, modes, modes + PER * t->mode_first[t->rings]};
}

static void send_waves(const fmm_wave_tables *t, int imaginary, int axis, const double *const child[8], double *family, double *work)
{
    const int n = fmm_harmonics(t->order);
    const wave_room room = room_of(t, work);
    to_lanes(PER, 0, n, child, room.values);
    to_lanes(PER, imaginary, n, child, room.values + n * PER);
    if (axis < 2) turn_in(PER, t->order, &t->turn[axis], room.values);
    modes_of(t, room.values, room.modes);
    for (int ring = 0; ring < t->rings; ring++) angles_of(t, ring, room.modes, room.waves);
    for (int i = t->waves * 2 * BOTH; i < t->padded * 2 * BOTH; i++) room.waves[i] = spread(0);
    if (axis == 0)
        send_rows(t, 0, room.waves, family);
    else if (axis == 1)
        send_rows(t, 1, room.waves, family);
    else
        send_rows(t, 2, room.waves, family);
}

static void receive_waves(const fmm_wave_tables *t, int imaginary, int axis, const double *const near[2][9], double *const child[8],
                          double *work)
{
    const int n = fmm_harmonics(t->order);
    const wave_room room = room_of(t, work);
    for (int way = 0; way < 2; way++)
        for (int at = 0; at < t->padded; at += LANES) {
            if (axis == 0)
                receive_rows(t, 0, way, near[way], at, room.waves);
            else if (axis == 1)
                receive_rows(t, 1, way, near[way], at, room.waves);
            else
                receive_rows(t, 2, way, near[way], at, room.waves);
        }
    for (int ring = 0; ring < t->rings; ring++) modes_from(t, ring, room.waves, room.modes);
    degrees_from(t, room.modes, room.values);
    if (axis < 2) turn_out(PER, PER, t->order, &t->turn[axis], room.values);
    from_lanes(PER, PER, 0, n, FAMILY, room.values, child);
    from_lanes(PER, PER, imaginary, n, FAMILY, room.values + n * PER, child);
}
