import { z } from 'zod';
import {
  type MaintenanceWindow,
  MaintenanceWindowFields,
  maintenanceWindows,
} from '../../../schemas/resources/maintenance-window.ts';
import { parseRecurrence, RecurrenceError } from '../../../subjects/maintenance-windows/recurrence.ts';
import { findNextOccurrences } from '../../../subjects/maintenance-windows/windows.ts';
import { validateMatchers } from '../../alert-matchers.ts';
import { createFieldError } from '../../errors.ts';
import { defineResource } from '../../resources/resource.ts';
import { storedView } from '../../resources/resource-spec.ts';

/** Maximum number per organization */
const maxWindows = 500;

/** Read-only fields in the view of a window. */
export const statusFields = {
  createdBy: z.string().describe('Creator: id of a user or service account'),
  isActive: z.boolean().describe('Whether it is active now'),
  times: z
    .array(z.strictObject({ from: z.iso.datetime(), to: z.iso.datetime() }))
    .describe('The current one and the next ones within a year, at most five'),
  ...storedView,
};

const View = z.strictObject({ ...MaintenanceWindowFields.shape, ...statusFields });

/** Current and next times of a window, for views. */
export const toStatusView = (window: MaintenanceWindow, nowMs: number) => {
  const nextTimes = findNextOccurrences(window, nowMs);
  return {
    isActive: nextTimes.some(({ fromMs }) => fromMs <= nowMs),
    times: nextTimes.map(({ fromMs, toMs }) => ({
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
    })),
  };
};

const validateRecurrence = ({ recurrence }: MaintenanceWindow): void => {
  try {
    if (recurrence !== null) parseRecurrence(recurrence);
  } catch (error) {
    if (error instanceof RecurrenceError) throw createFieldError('recurrence', error.message);
    throw error;
  }
};

/** Returns the window; throws if it is invalid. */
export const validateWindow = (after: MaintenanceWindow): MaintenanceWindow => {
  validateRecurrence(after);
  const { matchers, projectIds } = after;
  validateMatchers(matchers, { isRestricted: projectIds.length > 0, advice: 'name a value or projects' });
  return after;
};

export const maintenanceWindowResource = defineResource<typeof MaintenanceWindowFields, MaintenanceWindow, typeof View>(
  {
    noun: 'maintenance window',
    path: '/api/maintenance-windows',
    collection: maintenanceWindows,
    verbs: ['list', 'create', 'read', 'replace', 'delete'],
    roles: { read: 'viewer', write: 'editor' },
    fields: MaintenanceWindowFields,
    example: {
      name: 'Database upgrades',
      description: 'Upgrade of the carts database',
      timeZone: 'Europe/Zurich',
      startsAt: '2026-01-04T22:00',
      durationMinutes: 120,
      recurrence: 'FREQ=WEEKLY;BYDAY=SU',
      matchers: [{ name: 'service', operator: '=', value: 'cart' }],
    },
    view: View,
    live: true,
    initial: ({ caller }) => ({ createdBy: caller.actor.id }),
    maxCount: maxWindows,
    prepare: validateWindow,
    show: (documents, { ports }) =>
      documents.map((window) => ({ ...window, ...toStatusView(window, ports.clock.now()) })),
    list: { searched: ['name', 'description'] },
  },
);
