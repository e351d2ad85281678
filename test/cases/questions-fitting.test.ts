/** Which parts of a catalogue are sent to a model: the best matches for the question first, within limits. */
import test from 'ava';
import type { CatalogueField } from '../../subjects/questions/catalogue.ts';
import { selectRelevantNames } from '../../subjects/questions/relevant-names.ts';

const field = (name: string, values: readonly string[] = []): CatalogueField => ({
  name,
  values,
  isNumber: false,
  hasAllValues: true,
});
const metric = (name: string) => ({ name, unit: 's', services: [], labels: [], kind: 'gauge' as const });

test('names and values that share words with the question come first, within the limit of the model', (t) => {
  const others = Array.from({ length: 1_000 }, (_, at) => `other.${at}`);
  const records = {
    services: [...others, 'shop-checkout'],
    fields: [...others.map((name) => field(name)), field('region', ['eu', 'CHECKOUT hall']), field('cart.checkout')],
  };
  const { services, logs, traces, metrics } = selectRelevantNames('how slow is the checkout in the cart?', {
    logs: records,
    traces: { services: ['shop-checkout'], fields: [] },
    metrics: [...others.map(metric), metric('cart.size')],
  });
  t.is(services[0], 'shop-checkout');
  t.is(services.length, 50);
  t.deepEqual(
    logs.slice(0, 2).map(({ name }) => name),
    ['cart.checkout', 'region'],
  );
  t.deepEqual(logs[1]?.values, ['CHECKOUT hall', 'eu']);
  t.is(logs.length, 40);
  t.deepEqual(traces, []);
  t.deepEqual(metrics[0], { name: 'cart.size', kind: 'gauge', unit: 's' });
  t.is(metrics.length, 60);
});

test('values are truncated, and the largest catalogue fits into the limit of the model', (t) => {
  const long = 'x'.repeat(5_000);
  const fields = Array.from({ length: 2_000 }, (_, at) => field(`${at}.${'y'.repeat(100)}`, [long, `${long}1`]));
  const fitting = selectRelevantNames('anything', {
    logs: { services: [], fields },
    traces: { services: [], fields },
    metrics: [],
  });
  t.true(fitting.logs.length > 0);
  t.true(fitting.logs.every(({ values }) => values.every((value) => value.length <= 60)));
  t.true(JSON.stringify(fitting).length <= 16_000);
});

test('secrets, ids and personal values are masked or omitted, unless the question contains them', (t) => {
  const fields = [
    field('password', ['swordfish']),
    field('http.request.header.authorization', ['Bearer eyJhbGciOiJIUzI1NiJ9']),
    field('note', ['hunter2secret', 'AKIAIOSFODNN7EXAMPLE', 'card 4111111111111111 declined']),
    field('user.id', ['ann']),
    field('tier', ['gold', 'basic']),
    field('cinema', ['REX-3', 'ODE-2']),
    field('http.route', ['/orders/{id}']),
  ];
  const { logs } = selectRelevantNames('revenue of REX-3', {
    logs: { services: [], fields },
    traces: { services: [], fields: [] },
    metrics: [],
  });
  t.deepEqual(Object.fromEntries(logs.map(({ name, values }) => [name, values])), {
    password: [],
    'http.request.header.authorization': [],
    note: ['card <value> declined'],
    'user.id': [],
    tier: ['gold', 'basic'],
    cinema: ['REX-3'],
    'http.route': ['/orders/{id}'],
  });
});
