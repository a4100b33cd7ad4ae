! A wave in a channel, in Fortran. Run as: mpirun -np 4 wave output.json [steps]
! Built with: mpifort patchio.f90 wave.f90 $(pkg-config --cflags --libs patchio)
program wave
  use, intrinsic :: iso_c_binding
  use mpi
  use patchio
  implicit none
  integer, parameter :: cells = 1024, rows = 16
  integer :: compute, rank, ranks, fault, steps, step, x, y, first, last
  character(256) :: configuration, text
  real(c_double), allocatable, target :: height(:, :)
  type(c_ptr) :: out
  type(patchio_patch) :: mine(1)

  call MPI_Init(fault)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, fault)
  call get_command_argument(1, configuration)
  call get_command_argument(2, text)
  steps = 10
  if (text /= '') read (text, *) steps
  out = patchio_open(configuration, MPI_COMM_WORLD)
  if (.not. c_associated(out)) then
    if (rank == 0) print '(a)', patchio_error(c_null_ptr)
    call MPI_Finalize(fault)
    stop 1
  end if
  fault = patchio_compute(out, compute)  ! compute: all ranks, or all except I/O ranks
  if (compute == MPI_COMM_NULL) then
    fault = patchio_close(out)
    call MPI_Finalize(fault)
    stop
  end if
  call MPI_Comm_rank(compute, rank, fault)
  call MPI_Comm_size(compute, ranks, fault)
  first = cells * rank / ranks
  last = cells * (rank + 1) / ranks - 1
  allocate (height(first - 1:last + 1, rows))

  mine(1) = patchio_patch(0, [first, 0, 0], [last, rows - 1, 0])
  fault = patchio_grid(out, 2, [0d0, 0d0, 0d0], [0.01d0, 0.1d0, 1d0], 1, reshape([1, 1, 1], [3, 1]))
  fault = fault + patchio_patches(out, 1, mine)
  fault = fault + patchio_variable(out, 'height', 'height in m', PATCHIO_DOUBLE, 1, PATCHIO_CELLS, [1, 0, 0])
  do step = 0, steps - 1  ! continues after errors, because ranks may get them at different steps
    do y = 1, rows
      height(:, y) = [(sin(0.01d0 * (x + y - 10 * step)), x = first - 1, last + 1)]
    end do
    fault = fault + patchio_write(out, int(step, c_int64_t), 0.1d0 * step, [c_loc(height)])
  end do
  if (fault /= 0 .and. rank == 0) print '(a)', patchio_error(out)
  if (patchio_close(out) /= 0) then
    fault = fault + 1
    if (rank == 0) print '(a)', patchio_error(c_null_ptr)
  end if
  call MPI_Finalize(step)
  if (fault /= 0) stop 1
end program
