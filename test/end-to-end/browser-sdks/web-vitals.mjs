/** The package web-vitals by hand, as a page sends it in OTLP. */
import { onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals';

const { endpoint, session } = window.visit;
const toAttributes = (values) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { doubleValue: value } : { stringValue: value },
  }));

const report = ({ name, value, id, rating, navigationType }) => {
  const attributes = toAttributes({
    'session.id': session,
    'browser.document.url.full': location.href,
    'browser.web_vital.name': name.toLowerCase(),
    'browser.web_vital.value': value,
    'browser.web_vital.id': id,
    'browser.web_vital.rating': rating,
    'browser.web_vital.navigation_type': navigationType,
  });
  const record = { timeUnixNano: `${Date.now()}000000`, eventName: 'browser.web_vital', attributes };
  const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] });
  navigator.sendBeacon(`${endpoint}/v1/logs`, body);
};
for (const observe of [onCLS, onFCP, onINP, onLCP, onTTFB]) observe(report);
