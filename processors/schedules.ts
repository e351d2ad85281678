/** The schedules: one line each. Their topics, consumer groups and metrics' labels follow. */
import type { Schedule } from './engine/schedule.ts';

export const schedules: readonly Schedule[] = [];
