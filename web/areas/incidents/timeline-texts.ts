/** Texts of timeline entries for people */
import { formatChangeTitle } from '../../frame/action-titles.ts';

/** Titles of the kinds of entries */
export const kindTitles: Readonly<Record<string, string>> = {
  alert: 'Alert',
  acknowledgement: 'Acknowledged',
  change: 'Change',
  deployment: 'Deployment',
  config: 'Configuration',
  note: 'Note',
  page: 'Page',
  delivery: 'Delivery',
};

/** Titles of audited actions */
const actionTitles: Readonly<Record<string, string>> = {
  'incident.create': 'Incident declared',
  'incident.update': 'Incident changed',
  'incident.acknowledge': '',
  'incident.resolve': 'Incident resolved',
  'incident.reopen': 'Incident reopened',
  'incident.merge': 'Incident merged',
};

/** Fields that the title, the time or the person of an entry already states */
const statedFields = /^(?:\w+At|\w+By|groupId|status|mergedInto)$/;

interface Entry {
  readonly kind: string;
  readonly title: string;
  readonly text: string;
}

const isOfIncident = ({ kind }: Entry): boolean => kind === 'change' || kind === 'acknowledgement';

/** Returns the title of an entry; empty if its kind says it all. */
export const getEntryTitle = (entry: Entry): string => {
  if (entry.kind === 'note') return '';
  return isOfIncident(entry) ? (actionTitles[entry.title] ?? entry.title) : formatChangeTitle(entry.title);
};

/** Returns the changed fields of an entry as `severity: critical, tags: ["a"]`, or its text. */
export const getEntryText = (entry: Entry): string => {
  if (!isOfIncident(entry)) return entry.text;
  if (entry.title === 'incident.create') return '';
  return entry.text
    .split('\n')
    .filter((line) => {
      const [, name = '', value = ''] = /^([^:]*): (.*)$/s.exec(line) ?? ['', '', line];
      return value !== 'null' && value !== '[]' && !statedFields.test(name);
    })
    .join(', ');
};
