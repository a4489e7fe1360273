module lostlock

go 1.21
