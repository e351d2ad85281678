/** Labels that a snapshot includes by default. */
import test from 'ava';
import { listPanelLabels } from '../../../web/areas/dashboards/panel-labels.ts';

test('a snapshot includes the labels that its panels group by', (t) => {
  const panel = (query: object) => ({ queries: [{ id: 'a', query }] }) as never;
  t.deepEqual(
    listPanelLabels([
      panel({ kind: 'aggregate', groupBy: ['service', 'http.route'] }),
      panel({ kind: 'promql', expression: 'sum by (zone, service) (rate(x[5m])) / on () sum by () (y)' }),
      panel({ kind: 'formula', queries: { a: { kind: 'metric', groupBy: ['host'] } } }),
      {} as never,
    ]),
    ['service', 'http.route', 'zone', 'host'],
  );
});
