/** Grafana Faro with its default instrumentations. */
import { initializeFaro } from '@grafana/faro-web-sdk';

const { endpoint, session } = window.visit;
const faro = initializeFaro({
  url: `${endpoint}/faro`,
  app: { name: 'shop-web', version: '1.2.3' },
  trackResources: true,
  sessionTracking: { enabled: true, persistent: false, session: { id: session } },
});
faro.api.setView({ name: 'cart' });
