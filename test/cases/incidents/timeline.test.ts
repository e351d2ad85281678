/** Timelines: a fixed order, tamper-evident evidence, and Markdown without injected markup. */
import test from 'ava';
import { IncidentFields } from '../../../schemas/resources/incident.ts';
import { formatPostmortem } from '../../../subjects/incidents/postmortem.ts';
import {
  freezeTimeline,
  restoreTimeline,
  sortEntries,
  type TimelineEntry,
} from '../../../subjects/incidents/timeline.ts';

const entry = (at: string, kind: TimelineEntry['kind'], id: string, title = kind as string): TimelineEntry => ({
  at: `2026-11-25T${at}.000Z`,
  kind,
  id,
  title,
  text: '',
  actor: null,
  service: '',
});

test('entries have one order regardless of the order of their sources, and each is listed once', (t) => {
  const entries = [
    entry('10:00:00', 'alert', 'a'),
    entry('10:00:00', 'note', 'a'),
    entry('10:00:01', 'alert', 'b'),
    entry('10:00:01', 'alert', 'c'),
  ];
  t.deepEqual(sortEntries([...entries].reverse()), entries);
  t.deepEqual(sortEntries([...entries, ...entries]), entries);
});

test('a frozen timeline is restored unchanged, and is not intact after modification', (t) => {
  const entries = [entry('10:00:00', 'alert', 'a')];
  const { content, sha256 } = freezeTimeline(entries);
  t.deepEqual(restoreTimeline(content, sha256), { entries, isIntact: true });
  t.deepEqual(restoreTimeline(content.replace('"a"', '"b"'), sha256), { entries: [], isIntact: false });
});

test('a title with Markdown starts no heading, link or markup', (t) => {
  const at = '2026-11-25T10:00:00.000Z';
  const incident = {
    ...IncidentFields.parse({ title: 'x\n# y [click](http://evil) <b>' }),
    id: 'i1',
    version: 1,
    createdAt: at,
    updatedAt: at,
    openedBy: 'u1',
    openedAt: at,
    reopenedAt: null,
    firstAcknowledgedAt: at,
    acknowledgedAt: at,
    acknowledgedBy: 'u1',
    resolvedAt: null,
    resolvedBy: null,
    evidenceHash: null,
    groupId: null,
    escalationPolicyId: null,
  };
  const text = formatPostmortem(incident, { impact: '', causes: '', actions: [] }, [
    entry('10:00:00', 'alert', 'a', '# heading'),
  ]);
  t.true(text.startsWith('# x \\# y \\[click\\]\\(http://evil\\) \\<b\\>\n'));
  t.true(text.includes('alert: \\# heading'));
});
