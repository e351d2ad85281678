/** OpenTelemetry's tracer for pages with the instrumentation of fetch. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { FetchInstrumentation } from '@opentelemetry/instrumentation-fetch';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, WebTracerProvider } from '@opentelemetry/sdk-trace-web';

const { endpoint, session } = window.visit;
const provider = new WebTracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'shop-web', 'session.id': session }),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }))],
});
provider.register();
registerInstrumentations({ instrumentations: [new FetchInstrumentation({ ignoreUrls: [/\/rum\//] })] });
