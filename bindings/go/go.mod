module fovea

go 1.18
