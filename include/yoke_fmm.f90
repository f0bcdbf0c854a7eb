! yoke_fmm.f90 - libyoke_fmm for Fortran programs: compile this module with yours.  yoke_fmm.h says what the functions do, and what members mean.
module yoke_fmm
    use, intrinsic :: iso_c_binding
    implicit none

    integer(c_int), parameter :: yoke_interface = 1 ! of the headers that these declarations were made from
    integer(c_int), parameter :: yoke_ok = 0

    type, bind(c) :: yoke_fmm_options
        real(c_double) :: error = 0
        integer(c_int) :: error_of_forces = 0
        integer(c_int) :: order = 0
        integer(c_int) :: direct = 0
        integer(c_int) :: depth = 0
        integer(c_int64_t) :: leaf = 0
        integer(c_int) :: potential_only = 0
        integer(c_int) :: skip_coincident = 0
        integer(c_int) :: threads = 0
        integer(c_int) :: objective = 0
        type(c_ptr) :: store = c_null_ptr
        type(c_ptr) :: declared = c_null_ptr
        integer(c_int64_t) :: check = 0
        real(c_double) :: softening = 0
        type(c_ptr) :: devices = c_null_ptr
        type(c_ptr) :: share = c_null_ptr
        type(c_funptr) :: progress = c_null_funptr ! integer(c_int) function(user, what) bind(c), both type(c_ptr), value
        type(c_ptr) :: user = c_null_ptr
    end type

    type, bind(c) :: yoke_fmm_particles
        integer(c_int64_t) :: count = 0
        type(c_ptr) :: x = c_null_ptr, y = c_null_ptr, z = c_null_ptr, charge = c_null_ptr
        integer(c_int64_t) :: stride = 0, charge_stride = 0
    end type

    type, bind(c) :: yoke_fmm_field
        type(c_ptr) :: potential = c_null_ptr
        type(c_ptr) :: gx = c_null_ptr, gy = c_null_ptr, gz = c_null_ptr
        integer(c_int64_t) :: potential_stride = 0, gradient_stride = 0
    end type

    type, bind(c) :: yoke_fmm_result
        integer(c_int64_t) :: particles
        integer(c_int) :: order, depth
        integer(c_int64_t) :: leaf, leaves
        integer(c_int) :: tuned, built
        real(c_double) :: near_pairs, far_pairs
        real(c_double) :: predicted_s, predicted_j
        real(c_double) :: tune_s, tree_s, near_s, far_s
        real(c_double) :: total_energy
        real(c_double) :: predicted_potential_error, predicted_force_error
        integer(c_int64_t) :: sampled
        real(c_double) :: sampled_potential_error, sampled_force_error
        type(c_ptr) :: tuned_because, order_chosen_because ! texts: yoke_text; not c_associated: it was kept, or given
        integer(c_int) :: raised
        integer(c_int) :: devices, failed_devices
    end type

    interface
        integer(c_int) function yoke_context_create_for(interface_number, options, context) bind(c)
            import
            integer(c_int), value :: interface_number
            type(c_ptr), value :: options ! c_null_ptr: the usual ones
            type(c_ptr), intent(out) :: context
        end function
        subroutine yoke_context_destroy(context) bind(c)
            import
            type(c_ptr), value :: context
        end subroutine
        type(c_ptr) function yoke_last_error_text(context) bind(c, name='yoke_last_error')
            import
            type(c_ptr), value :: context
        end function
        subroutine yoke_release(context, memory) bind(c)
            import
            type(c_ptr), value :: context, memory
        end subroutine
        integer(c_int) function yoke_fmm_create_for(interface_number, context, options, fmm) bind(c)
            import
            integer(c_int), value :: interface_number
            type(c_ptr), value :: context
            type(yoke_fmm_options), intent(in) :: options
            type(c_ptr), intent(out) :: fmm
        end function
        subroutine yoke_fmm_destroy(fmm) bind(c)
            import
            type(c_ptr), value :: fmm
        end subroutine
        integer(c_int) function yoke_fmm_tune(fmm, particles) bind(c)
            import
            type(c_ptr), value :: fmm
            type(yoke_fmm_particles), intent(in) :: particles
        end function
        integer(c_int) function yoke_fmm_run(fmm, particles, field) bind(c)
            import
            type(c_ptr), value :: fmm
            type(yoke_fmm_particles), intent(in) :: particles
            type(yoke_fmm_field), intent(in) :: field
        end function
        integer(c_int) function yoke_fmm_get_result(fmm, result) bind(c)
            import
            type(c_ptr), value :: fmm
            type(yoke_fmm_result), intent(out) :: result
        end function
        integer(c_int) function yoke_fmm_explain_text(fmm, text) bind(c, name='yoke_fmm_explain')
            import
            type(c_ptr), value :: fmm
            type(c_ptr), intent(out) :: text ! given back with yoke_release
        end function
        integer(c_size_t) function c_text_length(text) bind(c, name='strlen')
            import
            type(c_ptr), value :: text
        end function
    end interface

contains

    ! The text of a C string.
    function yoke_text(text) result(characters)
        type(c_ptr), value :: text
        character(len=:), allocatable :: characters
        character(kind=c_char), pointer :: bytes(:)
        integer :: i
        call c_f_pointer(text, bytes, [c_text_length(text)])
        allocate (character(len=size(bytes)) :: characters)
        do i = 1, size(bytes)
            characters(i:i) = bytes(i)
        end do
    end function
end module
