! SPDX-License-Identifier: BSD-3-Clause
! heat.f90 - in Fortran: heat spreads along a ring of cells that the ranks share. Each puts its outer
! cells into its neighbours' memory, and all check that no heat is lost.
!
!   gfortran heddle.f90 heat.f90 -lheddle -o heat && heddle run -n 4 -- ./heat
program heat
  use heddle
  implicit none
  integer, parameter :: cells = 100, steps = 50
  integer(c_size_t), parameter :: bytes = 8
  type(c_ptr) :: world, lane, array
  real(c_double), pointer :: cell(:)  ! the first and the last one are copies of the neighbours'
  real(c_double) :: next(cells)
  real(c_double), target :: mine, all
  integer :: step, me, ranks

  world = heddle_world_open(c_null_ptr)  ! joins the job
  if (.not. c_associated(world)) error stop 'cannot join'
  lane = heddle_lane_open(world, c_null_ptr)  ! a path to all peers
  array = heddle_symmetric_open(world, (cells + 2) * bytes, HEDDLE_ALL_RIGHTS)
  if (.not. (c_associated(lane) .and. c_associated(array))) error stop 'cannot begin'
  call c_f_pointer(heddle_symmetric_local(array), cell, [cells + 2])
  me = heddle_world_rank(world)
  ranks = heddle_world_size(world)
  if (me == 0) cell(cells / 2) = 1000

  do step = 1, steps
    call put(cell(2), mod(me + ranks - 1, ranks), cells + 2)
    call put(cell(cells + 1), mod(me + 1, ranks), 1)
    call check(heddle_barrier(lane))  ! everybody's halo has come
    next = (cell(1:cells) + cell(2:cells + 1) + cell(3:cells + 2)) / 3
    call check(heddle_barrier(lane))  ! and has been read
    cell(2:cells + 1) = next
  end do

  mine = sum(cell(2:cells + 1))
  call check(heddle_allreduce(lane, c_loc(mine), c_loc(all), 1_c_size_t, HEDDLE_DOUBLE, HEDDLE_SUM))
  if (me == 0) print '(a, f8.2)', 'heat in all cells:', all
  if (abs(all - 1000) > 1d-9) error stop 'heat was lost'
  call heddle_symmetric_close(array)
  call heddle_lane_close(lane)
  call heddle_world_close(world)

contains

  subroutine put(value, peer, index)
    real(c_double), intent(in), target :: value
    integer, intent(in) :: peer, index
    type(heddle_address) :: there
    there = heddle_symmetric_at(array, peer, (index - 1) * bytes)
    call check(heddle_put(lane, c_loc(value), bytes, there))
  end subroutine put

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status /= HEDDLE_DONE) error stop 'an operation failed'
  end subroutine check
end program heat
