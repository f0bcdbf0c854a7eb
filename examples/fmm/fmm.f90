! The field of a ring of charges on its axis, by libyoke_fmm, beside the exact one:
! gfortran yoke_fmm.f90 fmm.f90 -lyoke_fmm -lyoke
module stages
    use yoke_fmm
    implicit none
contains

    ! Of the library's calls; a result other than 0 would interrupt it.
    integer(c_int) function count_stages(user, what) bind(c)
        type(c_ptr), value :: user, what
        integer, pointer :: counted
        call c_f_pointer(user, counted)
        if (len(yoke_text(what)) > 0) counted = counted + 1
        count_stages = 0
    end function
end module

program ring
    use stages
    implicit none
    integer, parameter :: charges = 4000, points = 100, n = charges + points
    real(c_double), parameter :: pi = acos(-1d0)
    real(c_double), target :: position(3, n), charge(n), potential(n), gradient(3, n)
    real(c_double) :: z(points), exact(points), exact_gradient(3, points), potential_error, gradient_error
    type(yoke_fmm_options) :: options
    type(yoke_fmm_particles) :: particles
    type(yoke_fmm_field) :: field
    type(yoke_fmm_result) :: found
    type(c_ptr) :: context, fmm, text
    integer, target :: counted = 0
    integer :: i

    ! Charges of 1/charges on the ring of radius 1, and points without charge on its axis.
    do i = 1, charges
        position(:, i) = [cos(2*pi*i/charges), sin(2*pi*i/charges), 0d0]
    end do
    do i = 1, points
        position(:, charges + i) = [0d0, 0d0, 2d0*i/points]
    end do
    charge(:charges) = 1d0/charges
    charge(charges + 1:) = 0

    options%order = 12
    options%depth = 4
    options%check = 50 ! particles that are compared with direct sums
    options%progress = c_funloc(count_stages)
    options%user = c_loc(counted)
    particles = yoke_fmm_particles(int(n, c_int64_t), c_loc(position(1, 1)), c_loc(position(2, 1)), c_loc(position(3, 1)), &
                                   c_loc(charge(1)), 3_c_int64_t, 1_c_int64_t)
    field = yoke_fmm_field(c_loc(potential(1)), c_loc(gradient(1, 1)), c_loc(gradient(2, 1)), c_loc(gradient(3, 1)), &
                           1_c_int64_t, 3_c_int64_t)

    if (yoke_context_create_for(yoke_interface, c_null_ptr, context) /= yoke_ok) call fail(c_null_ptr)
    if (yoke_fmm_create_for(yoke_interface, context, options, fmm) /= yoke_ok) call fail(context)
    if (yoke_fmm_run(fmm, particles, field) /= yoke_ok) call fail(context)
    if (yoke_fmm_get_result(fmm, found) /= yoke_ok) call fail(context)

    ! All errors are relative, in the 2-norm: on the axis, and as the library samples them.
    z = position(3, charges + 1:)
    exact = 1/sqrt(1 + z**2)
    exact_gradient(:2, :) = 0
    exact_gradient(3, :) = -z*exact**3
    potential_error = norm2(potential(charges + 1:) - exact)/norm2(exact)
    gradient_error = norm2(gradient(:, charges + 1:) - exact_gradient)/norm2(exact_gradient)
    print '(a,i0,a,i0,a,es8.1,a,es8.1,a,i0,a,es8.1)', 'depth ', found%depth, ', order ', found%order, &
        ', error of potentials on the axis ', potential_error, ', of gradients ', gradient_error, &
        ', of potentials at ', found%sampled, ' particles ', found%sampled_potential_error

    print '(i0,a)', counted, ' stages'
    if (yoke_fmm_explain_text(fmm, text) /= yoke_ok) call fail(context)
    print '(a)', yoke_text(text)
    call yoke_release(context, text)

    call yoke_fmm_destroy(fmm)
    call yoke_context_destroy(context)

contains

    subroutine fail(failed)
        type(c_ptr), intent(in) :: failed
        print '(a)', yoke_text(yoke_last_error_text(failed))
        stop 1
    end subroutine
end program
