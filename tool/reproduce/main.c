/* main.c - yoke-reproduce: published tables and what the planner computes for them. */
#include "common/console/program.h"
#include "reproduce/report.h"

int main(int argc, char **argv) { return app_program("yoke reproduce", reproduce_command, argc, argv); }
