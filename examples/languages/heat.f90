! SPDX-License-Identifier: MIT
! heat.f90 - the heat of a rod, as an example of a program in Fortran. docs/howto/languages.md records it.
module heat
contains
  subroutine step(t)
    real, intent(inout) :: t(:)
    t(2:size(t)-1) = t(2:size(t)-1) + 0.1 * (t(:size(t)-2) - 2 * t(2:size(t)-1) + t(3:))
  end subroutine
  subroutine report(n, t)
    integer, intent(in) :: n
    real, intent(in) :: t(:)
    print '(a, i5, a, f8.3)', 'step', n, ': ', sum(t) / size(t)
  end subroutine
end module

program main
  use heat
  real :: t(1000) = 0
  integer :: n
  t(1) = 100
  do n = 1, 300
    call step(t)
    if (mod(n, 100) == 0) call report(n, t)
  end do
end program
