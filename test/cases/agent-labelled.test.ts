/** Links and risks of labelled sessions, ordinary and dangerous, of three agents. */
import test from 'ava';
import { writeSessions } from './agent-labelled-sessions.ts';
import { runAgentRecords } from './agent-telemetry.ts';

const severeLevels = ['high', 'critical'];

const results = writeSessions().map(({ title, template, session }) => ({
  title,
  template,
  expected: session.expected,
  result: runAgentRecords(session.records),
}));

test('effects have the links of the labels', (t) => {
  t.true(results.length >= 60);
  for (const { title, expected, result } of results)
    t.deepEqual(
      result.events
        .filter(({ link }) => link !== '')
        .map(({ kind, link, command, path, hostName, address }) => ({
          link,
          what: `${kind} ${path || hostName || address || command}`,
        })),
      expected,
      title,
    );
});

test('ordinary sessions raise no risk', (t) => {
  for (const { title, template, result } of results)
    if (!template.isDangerous)
      t.deepEqual(
        result.signals.map(({ ruleTitle }) => ruleTitle),
        [],
        title,
      );
});

test('dangerous sessions raise a risk of a high level', (t) => {
  for (const { title, template, result } of results)
    if (template.isDangerous)
      t.true(
        result.signals.some(({ severity }) => severeLevels.includes(severity)),
        title,
      );
});

test('each event of a session comes back once, in the agent that caused it', (t) => {
  for (const { title, template, result, expected } of results) {
    t.is(new Set(result.events.map(({ id }) => id)).size, result.events.length, title);
    t.is(new Set(result.events.map(({ agentId }) => agentId)).size, 1, title);
    t.true(result.events.length > expected.length, template.title);
  }
});
