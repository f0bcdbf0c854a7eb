/* element.h - the elements that a case can name. */
#ifndef FEM_CASE_ELEMENT_H
#define FEM_CASE_ELEMENT_H

typedef enum fem_element { FEM_Q1, FEM_S2, FEM_Q2 } fem_element;

#endif
