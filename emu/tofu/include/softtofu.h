/* softtofu.h - what the software TofuD device offers beyond uTofu. The vendor's library has none of
 * it: a program that uses it must do without where UTOFU is the vendor's. */
#ifndef SOFTTOFU_H
#define SOFTTOFU_H

#ifdef __cplusplus
extern "C" {
#endif

/* Prints the SOFTTOFU_* variables with their defaults and meanings. */
void softtofu_help(void);

#ifdef __cplusplus
}
#endif

#endif /* SOFTTOFU_H */
