! SPDX-License-Identifier: MIT
! Allocatable arrays: of a module, of two dimensions, and of a subroutine.
module arrays
  implicit none
  integer, allocatable :: numbers(:)
  real(8), allocatable :: grid(:,:)
  integer :: total = 0
contains
  subroutine walk_numbers(rounds)
    integer, intent(in) :: rounds
    integer :: i, s
    integer(8) :: x, m
    x = 88172645463325252_8; s = 0; m = size(numbers)
    do i = 1, rounds
      x = ieor(x, ishft(x, 13)); x = ieor(x, ishft(x, -7)); x = ieor(x, ishft(x, 17))
      s = s + numbers(1 + iand(x + s, m - 1))
    end do
    total = total + s
  end subroutine
  subroutine walk_grid(rounds)
    integer, intent(in) :: rounds
    integer :: i
    real(8) :: s
    integer(8) :: x, m
    x = 88172645463325252_8; s = 0; m = size(grid, 2)
    do i = 1, rounds
      x = ieor(x, ishft(x, 13)); x = ieor(x, ishft(x, -7)); x = ieor(x, ishft(x, 17))
      s = s + grid(3, 1 + iand(x + int(s, 8), m - 1))
    end do
    total = total + int(s)
  end subroutine
  subroutine walk_own(n, rounds)
    integer, intent(in) :: n, rounds
    integer, allocatable :: own(:)
    integer :: i, s
    integer(8) :: x, m
    allocate(own(n)); own = 1
    x = 88172645463325252_8; s = 0; m = n
    do i = 1, rounds
      x = ieor(x, ishft(x, 13)); x = ieor(x, ishft(x, -7)); x = ieor(x, ishft(x, 17))
      s = s + own(1 + iand(x + s, m - 1))
    end do
    total = total + s
  end subroutine
end module
program main
  use arrays
  implicit none
  allocate(numbers(4194304)); numbers = 1
  allocate(grid(8, 262144)); grid = 1
  call walk_numbers(3000000)
  call walk_grid(3000000)
  call walk_own(4194304, 3000000)
  print *, total
end program
