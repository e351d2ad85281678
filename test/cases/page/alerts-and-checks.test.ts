/** Texts and decisions of the page about alerts and synthetic checks */
import test from 'ava';
import { phases } from '../../../subjects/synthetics/assertions.ts';
import { checkTypes } from '../../../subjects/synthetics/registry.ts';
import { BrowserStep } from '../../../subjects/synthetics/types/browser-steps.ts';
import { isSeriesOfAlert } from '../../../web/areas/alerts/shown.ts';
import { emptyBrowserSteps } from '../../../web/areas/checks/browser-kinds.ts';
import {
  assertionSourcesByType,
  defaultSettingsByType,
  formatAssertion,
  sourceProperties,
  sourceTitles,
} from '../../../web/areas/checks/setting-kinds.ts';

test('an assertion of a run is a sentence with the titles of its parts', (t) => {
  const cases = [
    [{ source: 'status', operator: 'is', value: '200' }, 'Status code is 200'],
    [{ source: 'header', name: 'etag', operator: 'exists' }, 'Header etag exists'],
    [{ source: 'certificate', name: 'daysLeft', operator: 'gte', value: '14' }, 'Certificate days left is at least 14'],
    [{ source: 'phase', name: 'wait', operator: 'lt', value: '500' }, 'Phase (ms) first byte is below 500'],
    [{ source: 'later', operator: 'resembles', value: 'x' }, 'later resembles x'],
  ] as const;
  for (const [assertion, text] of cases) t.is(formatAssertion(assertion), text);
});

test('each type of a check has a form, and each of its assertion sources a title', (t) => {
  t.deepEqual(Object.keys(defaultSettingsByType).toSorted(), checkTypes.map(({ type }) => type).toSorted());
  for (const sources of Object.values(assertionSourcesByType))
    for (const source of sources ?? []) t.not(sourceTitles[source], undefined, source);
  t.deepEqual(sourceProperties.phase, [...phases]);
});

test('each action of a browser step has a form', (t) => {
  const actions = BrowserStep.options.map(({ shape }) => shape.action.value);
  t.deepEqual(Object.keys(emptyBrowserSteps).toSorted(), [...actions].toSorted());
});

test('the series of an alert is the one without other values of its labels', (t) => {
  const alert = { service: 'cart', severity: 'critical', team: 'shop' };
  t.true(isSeriesOfAlert({ service: 'cart' }, alert));
  t.true(isSeriesOfAlert({}, alert));
  t.true(isSeriesOfAlert({ service: 'cart', host: 'a' }, alert));
  t.false(isSeriesOfAlert({ service: 'mail' }, alert));
});
