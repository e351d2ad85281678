/** Calculations with their titles, for panels and their editor */

/** Value and title of each choice; the first is the default */
export type Choices = readonly (readonly [value: string, title: string])[];

/** Calculations that reduce a series or column to one value */
export const calculations: Choices = [
  ['last-not-null', 'Last'],
  ['first-not-null', 'First'],
  ['min', 'Min'],
  ['max', 'Max'],
  ['mean', 'Mean'],
  ['median', 'Median'],
  ['p95', '95th percentile'],
  ['sum', 'Total'],
  ['count', 'Count'],
  ['range', 'Range'],
  ['difference', 'Difference'],
];
