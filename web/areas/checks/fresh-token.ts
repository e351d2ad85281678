/** The token of a heartbeat that was just made: nobody can ask for it again. */
import { signal } from '@preact/signals';

export const freshToken = signal<{ readonly id: string; readonly token: string } | undefined>(undefined);
