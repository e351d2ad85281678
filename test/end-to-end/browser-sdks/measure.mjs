/** The page's own measurements, next to the SDK under test. The test compares both. */
import { onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals';

const clicks = [];
const errors = [];
const views = [location.href];
const vitals = {};
const recorded = [];

for (const observe of [onCLS, onFCP, onINP, onLCP, onTTFB])
  observe(({ name, value }) => {
    vitals[name] = value;
  });
addEventListener('click', ({ target }) => clicks.push(target.id), true);
addEventListener('error', ({ error, message }) => {
  if (error !== undefined) errors.push(error?.message ?? message);
});
const { pushState } = history;
history.pushState = function (...given) {
  pushState.apply(this, given);
  views.push(location.href);
};

// Recorders of sessions convert each of their events to JSON.
const { stringify } = JSON;
JSON.stringify = (value, ...others) => {
  const text = stringify(value, ...others);
  const isRecorded = typeof value?.type === 'number' && typeof value.timestamp === 'number' && 'data' in value;
  if (isRecorded) recorded.push(JSON.parse(text));
  return text;
};

const readResources = () =>
  performance
    .getEntriesByType('resource')
    .filter(({ name }) => !name.includes('/rum/'))
    .map(({ name, duration, transferSize, decodedBodySize }) => ({ name, duration, transferSize, decodedBodySize }));

window.readMeasured = () => ({ clicks, errors, views, vitals, recorded, resources: readResources() });

/** Hides the page without leaving it, so that what is sent then can be awaited. */
window.hidePage = () => {
  for (const [name, value] of Object.entries({ visibilityState: 'hidden', hidden: true }))
    Object.defineProperty(document, name, { value, configurable: true });
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
};
