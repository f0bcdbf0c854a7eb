/*
 * dealii_elasticity - the cube of bench/run in deal.II, for bench/peers/run: matrix-free products and a geometric multigrid solve.
 *
 * Usage: mpirun -n RANKS dealii_elasticity DEGREE COARSE LEVELS BEND PRODUCTS SOLVES
 * COARSE^3 cubes, refined LEVELS times; with BEND their inner vertices are displaced as bench/run does it.  Prints one JSON object.
 *
 * The lanes of a vector: a packaged deal.II is compiled for every processor of its kind, that is, with one or two lanes.  All of its
 * matrix-free classes are templates over VectorizedArray, so unless AS_PACKAGED is defined this program instantiates them itself, with
 * the lanes that its own compiler flags allow.  The default number of lanes is fixed by numbers.h and must remain the library's, or
 * classes that both sides use would differ in size: therefore that header comes before the macro is set.
 */
#include <deal.II/base/numbers.h>

#ifndef AS_PACKAGED
#undef DEAL_II_VECTORIZATION_WIDTH_IN_BITS
#if defined(__AVX512F__)
#define DEAL_II_VECTORIZATION_WIDTH_IN_BITS 512
#elif defined(__AVX__)
#define DEAL_II_VECTORIZATION_WIDTH_IN_BITS 256
#else
#define DEAL_II_VECTORIZATION_WIDTH_IN_BITS 128
#endif
#define FE_EVAL_FACTORY_DEGREE_MAX 2 // degrees that the templates below are made for
#endif

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/base/utilities.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_q1.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/diagonal_matrix.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/matrix_free/fe_evaluation.h>
#include <deal.II/matrix_free/matrix_free.h>
#include <deal.II/matrix_free/tools.h>
#include <deal.II/multigrid/mg_coarse.h>
#include <deal.II/multigrid/mg_constrained_dofs.h>
#include <deal.II/multigrid/mg_matrix.h>
#include <deal.II/multigrid/mg_smoother.h>
#include <deal.II/multigrid/mg_tools.h>
#include <deal.II/multigrid/mg_transfer_matrix_free.h>
#include <deal.II/multigrid/multigrid.h>
#include <deal.II/numerics/vector_tools.h>

#ifndef AS_PACKAGED
#include <deal.II/matrix_free/dof_info.templates.h>
#include <deal.II/matrix_free/evaluation_template_factory.templates.h>
#include <deal.II/matrix_free/evaluation_template_factory_hanging_nodes.templates.h>
#include <deal.II/matrix_free/mapping_info.templates.h>
#include <deal.II/matrix_free/matrix_free.templates.h>
#include <deal.II/matrix_free/shape_info.templates.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

using namespace dealii;

#ifdef AS_PACKAGED
template <typename Number> using Lanes = VectorizedArray<Number>;
#else
template <typename Number>
using Lanes = VectorizedArray<Number, DEAL_II_VECTORIZATION_WIDTH_IN_BITS / (8 * sizeof(Number))>;
#endif
template <typename Number> using Vector_ = LinearAlgebra::distributed::Vector<Number>;

#ifndef AS_PACKAGED
/* Geometry on faces, which nobody asks for here, is named by what is instantiated above: keep its many kernels out. */
template <>
void internal::FEFaceEvaluationFactory<3, Lanes<double>>::evaluate(unsigned int, EvaluationFlags::EvaluationFlags, const Lanes<double> *,
                                                                   FEEvaluationData<3, Lanes<double>, true> &)
{
    std::abort();
}
#endif

static const double youngs_modulus = 1, poisson_ratio = 0.3, traction = -1e-3, tolerance = 1e-8;
static const unsigned int smoother_degree = 4;
static const types::boundary_id clamped = 0, loaded = 1; // x = 0 and x = 1, as hyper_cube's colours name them

/* Elasticity on one level or on the leaves, matrix-free. */
template <int degree, typename Number> class Elasticity : public Subscriptor
{
  public:
    using Vector = Vector_<Number>;
    using Cell = FEEvaluation<3, degree, degree + 1, 3, Number, Lanes<Number>>;

    void reinit(const DoFHandler<3> &dofs, const AffineConstraints<double> &constraints, unsigned int level = numbers::invalid_unsigned_int)
    {
        typename MatrixFree<3, Number, Lanes<Number>>::AdditionalData options;
        options.tasks_parallel_scheme = MatrixFree<3, Number, Lanes<Number>>::AdditionalData::none;
        options.mapping_update_flags = update_gradients | update_JxW_values;
        options.mg_level = level;
        cells.reinit(MappingQ1<3>(), dofs, constraints, QGauss<1>(degree + 1), options);
    }

    void initialize_dof_vector(Vector &vector) const { cells.initialize_dof_vector(vector); }
    std::shared_ptr<const Utilities::MPI::Partitioner> partitioner() const { return cells.get_vector_partitioner(); }
    types::global_dof_index m() const { return partitioner()->size(); }
    Number el(types::global_dof_index, types::global_dof_index) const { return Number(); }

    void vmult(Vector &dst, const Vector &src) const
    {
        cells.cell_loop(&Elasticity::product, this, dst, src, true);
        for (const unsigned int i : cells.get_constrained_dofs())
            dst.local_element(i) = src.local_element(i);
    }

    void Tvmult(Vector &dst, const Vector &src) const { vmult(dst, src); }

    /* The same with the vector updates of the caller woven in; constrained values are zero in all vectors that take this way. */
    void vmult(Vector &dst, const Vector &src, const std::function<void(unsigned int, unsigned int)> &before,
               const std::function<void(unsigned int, unsigned int)> &after) const
    {
        cells.cell_loop(&Elasticity::product, this, dst, src, before, after);
    }

    std::shared_ptr<DiagonalMatrix<Vector>> inverse_diagonal() const
    {
        auto inverse = std::make_shared<DiagonalMatrix<Vector>>();
        Vector &values = inverse->get_vector();
        initialize_dof_vector(values);
        MatrixFreeTools::compute_diagonal(cells, values, &Elasticity::element, this);
        for (Number &value : values)
            value = value > Number(0) ? Number(1) / value : Number(1);
        return inverse;
    }

  private:
    void element(Cell &cell) const
    {
        const Number mu = youngs_modulus / (2 * (1 + poisson_ratio));
        const Number lambda = youngs_modulus * poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
        cell.evaluate(EvaluationFlags::gradients);
        for (unsigned int q = 0; q < cell.n_q_points; q++) {
            const auto strain = cell.get_symmetric_gradient(q);
            auto stress = Number(2) * mu * strain;
            const auto pressure = lambda * trace(strain);
            for (unsigned int a = 0; a < 3; a++)
                stress[a][a] += pressure;
            cell.submit_symmetric_gradient(stress, q);
        }
        cell.integrate(EvaluationFlags::gradients);
    }

    void product(const MatrixFree<3, Number, Lanes<Number>> &data, Vector &dst, const Vector &src,
                 const std::pair<unsigned int, unsigned int> &range) const
    {
        Cell cell(data);
        for (unsigned int batch = range.first; batch < range.second; batch++) {
            cell.reinit(batch);
            cell.read_dof_values(src);
            element(cell);
            cell.distribute_local_to_global(dst);
        }
    }

    MatrixFree<3, Number, Lanes<Number>> cells;
};

static double now()
{
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

static double peak_memory()
{
    Utilities::System::MemoryStats memory;
    Utilities::System::get_memory_stats(memory);
    return 1024 * Utilities::MPI::sum(double(memory.VmHWM), MPI_COMM_WORLD);
}

/* Each inner vertex of the unrefined cube another way, at most a fifth of an element: bench/run's cube(). */
static void bend(Triangulation<3> &mesh, int n)
{
    GridTools::transform(
        [n](const Point<3> &x) {
            int index[3];
            for (int a = 0; a < 3; a++)
                index[a] = int(std::lround(x[a] * n));
            Point<3> moved = x;
            if (std::all_of(index, index + 3, [n](int i) { return i > 0 && i < n; }))
                for (int a = 0; a < 3; a++)
                    moved[a] += 0.2 / n * (((index[0] * 7 + index[1] * 13 + index[2] * 29 + a * 11) % 17) / 8. - 1);
            return moved;
        },
        mesh);
}

template <int degree> static void load(const DoFHandler<3> &dofs, const AffineConstraints<double> &constraints, Vector_<double> &b)
{
    FEFaceValues<3> face(dofs.get_fe(), QGauss<2>(degree + 1), update_values | update_JxW_values);
    Vector<double> values(dofs.get_fe().dofs_per_cell);
    std::vector<types::global_dof_index> indices(dofs.get_fe().dofs_per_cell);
    for (const auto &cell : dofs.active_cell_iterators())
        for (const unsigned int f : cell->face_indices())
            if (cell->is_locally_owned() && cell->face(f)->at_boundary() && cell->face(f)->boundary_id() == loaded) {
                face.reinit(cell, f);
                values = 0;
                for (unsigned int i = 0; i < values.size(); i++)
                    if (dofs.get_fe().system_to_component_index(i).first == 2)
                        for (const unsigned int q : face.quadrature_point_indices())
                            values[i] += traction * face.shape_value(i, q) * face.JxW(q);
                cell->get_dof_indices(indices);
                constraints.distribute_local_to_global(values, indices, b);
            }
    b.compress(VectorOperation::add);
}

template <int degree> static std::vector<double> time_products(const Elasticity<degree, double> &matrix, Vector_<double> &src, int products)
{
    Vector_<double> dst;
    matrix.initialize_dof_vector(dst);
    for (unsigned int i = 0; i < src.locally_owned_size(); i++)
        src.local_element(i) = 1e-3 * (i % 1000);
    std::vector<double> seconds;
    for (int i = 0; i < products + 3; i++) { // the first three warm up
        const double start = now();
        matrix.vmult(dst, src);
        seconds.push_back(now() - start);
    }
    seconds.erase(seconds.begin(), seconds.begin() + 3);
    return seconds;
}

template <int degree> static void run(int coarse, int levels, bool curved, int products, int solves)
{
    using Level = Elasticity<degree, float>;
    using LevelVector = typename Level::Vector;
    using Smoother = PreconditionChebyshev<Level, LevelVector, DiagonalMatrix<LevelVector>>;

    const bool multigrid = solves > 0;
    const double memory_before = peak_memory(), start_mesh = now();
    using Mesh = parallel::distributed::Triangulation<3>;
    Mesh mesh(MPI_COMM_WORLD, Triangulation<3>::limit_level_difference_at_vertices, Mesh::construct_multigrid_hierarchy);
    GridGenerator::subdivided_hyper_cube(mesh, coarse, 0, 1, true);
    if (curved)
        bend(mesh, coarse);
    mesh.refine_global(levels);

    const double start_setup = now();
    const FESystem<3> fe{FE_Q<3>{degree}, 3};
    DoFHandler<3> dofs(mesh);
    dofs.distribute_dofs(fe);
    if (multigrid)
        dofs.distribute_mg_dofs();
    IndexSet relevant;
    DoFTools::extract_locally_relevant_dofs(dofs, relevant);
    AffineConstraints<double> constraints(relevant);
    VectorTools::interpolate_boundary_values(MappingQ1<3>(), dofs, clamped, Functions::ZeroFunction<3>(3), constraints);
    constraints.close();
    Elasticity<degree, double> matrix;
    matrix.reinit(dofs, constraints);

    MGLevelObject<Level> level_operators(0, multigrid ? levels : 0);
    MGConstrainedDoFs mg_constrained;
    MGTransferMatrixFree<3, float> transfer;
    mg::SmootherRelaxation<Smoother, LevelVector> smoother;
    if (multigrid) {
        mg_constrained.initialize(dofs);
        mg_constrained.make_zero_boundary_constraints(dofs, {clamped});
        MGLevelObject<typename Smoother::AdditionalData> smoother_data(0, levels);
        std::vector<std::shared_ptr<const Utilities::MPI::Partitioner>> partitioners;
        for (int level = 0; level <= levels; level++) {
            DoFTools::extract_locally_relevant_level_dofs(dofs, level, relevant);
            AffineConstraints<double> level_constraints(relevant);
            level_constraints.add_lines(mg_constrained.get_boundary_indices(level));
            level_constraints.close();
            level_operators[level].reinit(dofs, level_constraints, level);
            partitioners.push_back(level_operators[level].partitioner());
            auto &data = smoother_data[level];
            data.degree = level ? smoother_degree : numbers::invalid_unsigned_int; // the coarsest: as many as reach the range
            data.smoothing_range = level ? 20 : 1e-3;
            data.eig_cg_n_iterations = level ? 12 : 100;
            data.preconditioner = level_operators[level].inverse_diagonal();
            data.constraints.copy_from(level_constraints);
        }
        transfer.initialize_constraints(mg_constrained);
        transfer.build(dofs, partitioners);
        smoother.initialize(level_operators, smoother_data);
        for (int level = 0; level <= levels; level++) {
            LevelVector any;
            level_operators[level].initialize_dof_vector(any);
            smoother[level].estimate_eigenvalues(any);
        }
    }
    const mg::Matrix<LevelVector> level_matrices(level_operators);
    MGCoarseGridApplySmoother<LevelVector> coarse_solver(smoother);
    Multigrid<LevelVector> cycle(level_matrices, coarse_solver, transfer, smoother, smoother, 0, multigrid ? levels : 0);
    PreconditionMG<3, LevelVector, MGTransferMatrixFree<3, float>> preconditioner(dofs, cycle, transfer);
    const double end_setup = now();

    Vector_<double> u, b;
    matrix.initialize_dof_vector(u);
    matrix.initialize_dof_vector(b);
    load<degree>(dofs, constraints, b);
    std::vector<double> solve_seconds;
    unsigned int iterations = 0;
    for (int i = 0; i < solves; i++) {
        u = 0;
        const double start = now();
        SolverControl control(1000, tolerance * b.l2_norm());
        SolverCG<Vector_<double>> cg(control);
        cg.solve(matrix, u, b, preconditioner);
        solve_seconds.push_back(now() - start);
        iterations = control.last_step();
    }
    const double compliance = b * u, memory = peak_memory();
    const double product = median(time_products<degree>(matrix, u, products));
    if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
        std::printf("{\"version\": \"%s\", \"lanes\": %u, \"ranks\": %u, \"dofs\": %llu, \"mesh_s\": %.6g, \"setup_s\": %.6g, "
                    "\"solve_s\": %.6g, \"iterations\": %u, \"compliance\": %.12g, \"product_s\": %.6g, \"peak_bytes\": %.0f, "
                    "\"bytes_before\": %.0f}\n",
                    DEAL_II_PACKAGE_VERSION, unsigned(Lanes<double>::size()), Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD),
                    static_cast<unsigned long long>(dofs.n_dofs()), start_setup - start_mesh, end_setup - start_setup, median(solve_seconds),
                    iterations, compliance, product, memory, memory_before);
}

int main(int argc, char **argv)
{
    Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
    if (argc != 7)
        return 2;
    const int coarse = std::atoi(argv[2]), levels = std::atoi(argv[3]), products = std::atoi(argv[5]), solves = std::atoi(argv[6]);
    const bool curved = std::atoi(argv[4]) != 0;
    if (std::atoi(argv[1]) == 1)
        run<1>(coarse, levels, curved, products, solves);
    else
        run<2>(coarse, levels, curved, products, solves);
}
