/** A dashboard that uses nearly all features. */
export const wholeDashboard = {
  name: 'Checkout',
  description: 'What the shop *sells*',
  folder: 'Shop/Checkout',
  tags: ['shop', 'red'],
  time: { from: 'now-6h', to: 'now', refresh: '30s', zone: 'Europe/Berlin' },
  variables: [
    { kind: 'label-values', name: 'service', label: 'http_route' },
    { kind: 'interval', name: 'window', options: ['1m', '5m'] },
  ],
  sections: [
    { id: 'top', title: 'Overview' },
    { id: 'each', title: 'Of $service', kind: 'tab', within: 'top', repeat: { variable: 'service' } },
  ],
  panels: [
    {
      id: 'errors',
      title: 'Errors of $service',
      place: { section: 'top', x: 0, y: 0, width: 12, height: 8 },
      visual: { kind: 'time-series', legend: { form: 'table', values: ['mean', 'max'] } },
      queries: [
        { name: 'A', query: { kind: 'promql', expression: 'sum(rate(errors_total{service="$service"}[5m]))' } },
        { name: 'B', query: { kind: 'promql', expression: 'sum(rate(requests_total[5m]))' }, hidden: true },
        { name: 'C', savedQueryId: 'saved' },
      ],
      formulas: [{ name: 'share', expression: '100 * A / B', legend: 'share' }],
      transformations: [{ kind: 'limit', rows: 5 }],
      fields: {
        unit: '%',
        decimals: 1,
        thresholds: {
          steps: [
            { value: null, colour: 'green' },
            { value: 5, colour: 'red' },
          ],
        },
      },
      overrides: [
        { match: { by: 'pattern', pattern: '.*5xx' }, settings: { colour: { mode: 'fixed', fixed: '#ff0000' } } },
        { match: { by: 'query', query: 'share' }, settings: { axis: { side: 'right' }, drawing: { as: 'bars' } } },
      ],
      time: { compareWith: '7d' },
      links: [{ title: 'Logs', url: '/logs?service=$service' }],
    },
    { id: 'notes', title: 'Notes', place: { y: 8 }, visual: { kind: 'text', content: '# Call us' } },
  ],
  annotations: [{ name: 'Deployments', source: { kind: 'events', kinds: ['deployment'] } }],
  links: [{ kind: 'dashboards', tags: ['shop'] }],
} as const;
