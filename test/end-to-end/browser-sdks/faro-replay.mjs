/** Grafana Faro with its instrumentations of traces and session recordings. */
// biome-ignore lint/correctness/noUndeclaredDependencies: too large for the tests
import { ReplayInstrumentation } from '@grafana/faro-instrumentation-replay';
import { getWebInstrumentations, initializeFaro } from '@grafana/faro-web-sdk';
// biome-ignore lint/correctness/noUndeclaredDependencies: too large for the tests
import { TracingInstrumentation } from '@grafana/faro-web-tracing';

const { endpoint, session } = window.visit;
initializeFaro({
  url: `${endpoint}/faro`,
  app: { name: 'shop-web', version: '1.2.3' },
  ignoreUrls: [/\/rum\//],
  instrumentations: [
    ...getWebInstrumentations(),
    new TracingInstrumentation(),
    new ReplayInstrumentation({ maskTextSelector: undefined }),
  ],
  trackResources: true,
  sessionTracking: { enabled: true, persistent: false, session: { id: session } },
});
