#include "bad_input_report.cuh"
#include "bag_arguments.cuh"
#include "device.cuh"
