/** OpenTelemetry's SDK for browsers with its instrumentations, which send log records. */

import { ErrorsInstrumentation } from '@opentelemetry/browser-instrumentation/experimental/errors';
import { NavigationInstrumentation } from '@opentelemetry/browser-instrumentation/experimental/navigation';
import { NavigationTimingInstrumentation } from '@opentelemetry/browser-instrumentation/experimental/navigation-timing';
import { ResourceTimingInstrumentation } from '@opentelemetry/browser-instrumentation/experimental/resource-timing';
import { UserActionInstrumentation } from '@opentelemetry/browser-instrumentation/experimental/user-action';
import { WebVitalsInstrumentation } from '@opentelemetry/browser-instrumentation/experimental/web-vitals';
import { startLogsSdk } from '@opentelemetry/browser-sdk/logs';
import { createSessionLogRecordProcessor } from '@opentelemetry/browser-sdk/session';
import { registerInstrumentations } from '@opentelemetry/instrumentation';

const { endpoint, session } = window.visit;
startLogsSdk({
  serviceName: 'shop-web',
  exportConfig: { url: `${endpoint}/v1/logs` },
  processors: [createSessionLogRecordProcessor({ getSessionId: () => session })],
});
registerInstrumentations({
  instrumentations: [
    new ErrorsInstrumentation(),
    new NavigationInstrumentation(),
    new NavigationTimingInstrumentation(),
    new ResourceTimingInstrumentation({ ignoreUrls: [/\/rum\//] }),
    new UserActionInstrumentation(),
    new WebVitalsInstrumentation(),
  ],
});
