/** HyperDX's SDK, whose session recorder sends log records. */
// biome-ignore lint/correctness/noUndeclaredDependencies: too large for the tests
import HyperDX from '@hyperdx/browser';

const { endpoint } = window.visit;
HyperDX.init({
  url: endpoint,
  tracesUrl: `${endpoint}/v1/traces`,
  logsUrl: `${endpoint}/v1/logs`,
  apiKey: 'none',
  service: 'shop-web',
  ignoreUrls: [/\/rum\//],
  maskAllText: false,
});
window.readSession = () => HyperDX.getSessionId();
// The recorder sends every five seconds, and when the page is left.
addEventListener('visibilitychange', () => dispatchEvent(new Event('unload')));
