/** The function that says whether the mutant with a number is switched on; whoever runs the code brings it. */
export const SWITCH = '__mutant';
