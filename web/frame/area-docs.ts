import { signal } from '@preact/signals';

/** Page of the documentation about the current area; empty outside of areas */
export const areaDocs = signal('');
