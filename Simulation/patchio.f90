! Fortran interface of PatchIO's output: compile this file with the simulation. patchio.h describes the functions.
! Communicators are integers, as in `use mpi`.
module patchio
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: patchio_patch, patchio_open, patchio_compute, patchio_grid, patchio_patches, patchio_variable, patchio_write, &
            patchio_flush, patchio_close, patchio_error

  integer(c_int), parameter, public :: PATCHIO_FLOAT = 0, PATCHIO_DOUBLE = 1, PATCHIO_INT32 = 2, PATCHIO_INT64 = 3
  integer(c_int), parameter, public :: PATCHIO_CELLS = 0, PATCHIO_NODES = 1

  type, bind(c) :: patchio_patch
    integer(c_int32_t) :: level, lower(3), upper(3)
  end type

  interface
    function open_c(configuration, communicator) bind(c, name="patchio_open_fortran") result(output)
      import
      character(kind=c_char), intent(in) :: configuration(*)
      integer(c_int), value :: communicator
      type(c_ptr) :: output
    end function
    function compute_c(output, compute) bind(c, name="patchio_compute_fortran") result(fault)
      import
      type(c_ptr), value :: output
      integer(c_int), intent(out) :: compute
      integer(c_int) :: fault
    end function
    function variable_c(output, name, description, kind, components, place, ghosts) bind(c, name="patchio_variable") result(fault)
      import
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: name(*), description(*)
      integer(c_int), value :: kind, components, place
      integer(c_int32_t), intent(in) :: ghosts(3)
      integer(c_int) :: fault
    end function
    function error_c(output) bind(c, name="patchio_error") result(text)
      import
      type(c_ptr), value :: output
      type(c_ptr) :: text
    end function
    function length_c(text) bind(c, name="strlen") result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
    function patchio_grid(output, dimension, origin, spacing, levels, ratios) bind(c) result(fault)
      import
      type(c_ptr), value :: output
      integer(c_int), value :: dimension, levels
      real(c_double), intent(in) :: origin(3), spacing(3)
      integer(c_int32_t), intent(in) :: ratios(3, *)
      integer(c_int) :: fault
    end function
    function patchio_patches(output, count, patches) bind(c) result(fault)
      import
      type(c_ptr), value :: output
      integer(c_int), value :: count
      type(patchio_patch), intent(in) :: patches(*)
      integer(c_int) :: fault
    end function
    function patchio_write(output, step, time, values) bind(c) result(fault)
      import
      type(c_ptr), value :: output
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      type(c_ptr), intent(in) :: values(*)
      integer(c_int) :: fault
    end function
    function patchio_flush(output) bind(c) result(fault)
      import
      type(c_ptr), value :: output
      integer(c_int) :: fault
    end function
    function patchio_close(output) bind(c) result(fault)
      import
      type(c_ptr), value :: output
      integer(c_int) :: fault
    end function
  end interface

contains

  function patchio_open(configuration, communicator) result(output)
    character(*), intent(in) :: configuration
    integer, intent(in) :: communicator
    type(c_ptr) :: output
    output = open_c(trim(configuration) // c_null_char, int(communicator, c_int))
  end function

  function patchio_compute(output, compute) result(fault)
    type(c_ptr), intent(in) :: output
    integer, intent(out) :: compute
    integer(c_int) :: fault
    integer(c_int) :: number
    fault = compute_c(output, number)
    compute = number
  end function

  function patchio_variable(output, name, description, kind, components, place, ghosts) result(fault)
    type(c_ptr), intent(in) :: output
    character(*), intent(in) :: name, description
    integer(c_int), intent(in) :: kind, components, place
    integer(c_int32_t), intent(in) :: ghosts(3)
    integer(c_int) :: fault
    fault = variable_c(output, trim(name) // c_null_char, trim(description) // c_null_char, kind, components, place, ghosts)
  end function

  function patchio_error(output) result(text)
    type(c_ptr), intent(in) :: output
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    type(c_ptr) :: from
    integer :: i
    from = error_c(output)
    call c_f_pointer(from, letters, [length_c(from)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

end module
