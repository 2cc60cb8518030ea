/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers that the DSDT promises and the power management registers keep. */
#ifndef VMM_SLEEP_H
#define VMM_SLEEP_H

#define VMM_SLP_TYP_S5 5 /* SLP_TYP of \_S5: power off */
#define VMM_GPE_EJECT  1 /* general-purpose event behind \_GPE._E01 */

#endif
