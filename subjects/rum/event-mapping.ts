/**
 * How the SDKs for browsers name their events and fields: data that `read-event.ts` applies. To support another SDK, add
 * its names here and a case to `test/cases/rum-mapping.test.ts`.
 */
import type { LoadPhase, RumEventKind, VitalName } from '../../schemas/rum.ts';

/** Fields of an event that one attribute contains. */
export type MappedField =
  | 'sessionId'
  | 'viewId'
  | 'route'
  | 'url'
  | 'referrer'
  | 'userId'
  | 'name'
  | 'value'
  | 'rating'
  | 'navigationType'
  | 'eventId'
  | 'element'
  | 'elementText'
  | 'durationMs'
  | 'target'
  | 'resourceType'
  | 'bytes'
  | 'encodedBytes'
  | 'decodedBytes'
  | 'blockingStatus'
  | 'cacheStatus'
  | 'method'
  | 'status'
  | 'message'
  | 'errorType'
  | 'stack'
  | 'isHandled'
  | 'sampling'
  | 'userAgent'
  | 'browser'
  | 'browserVersion'
  | 'os'
  | 'osVersion'
  | 'device'
  | 'isMobile'
  | 'country'
  | 'environment'
  | 'release'
  | 'sdk'
  | 'sdkVersion'
  | 'traceId'
  | 'spanId';

/** Attribute names of fields that all events have; the first one with a value counts. Record before resource. */
export const sharedFields = {
  sessionId: [
    'session.id',
    'rum.sessionId',
    'splunk.rumSessionId',
    'rumSessionId',
    'session_id',
    'gf.feo11y.session.id',
  ],
  viewId: ['browser.view.id', 'view.id', 'view_id', 'page.view.id'],
  route: ['browser.route', 'http.route', 'view.name', 'view_name', 'screen.name', 'app.route.id'],
  url: [
    'browser.document.url.full',
    'browser.page.url',
    'page.url',
    'page_url',
    'location.href',
    'http.page_url',
    'url.page',
  ],
  referrer: ['browser.page.referrer', 'document.referrer', 'referrer'],
  eventId: ['log.record.uid'],
  userId: ['user.id', 'enduser.id', 'user_id', 'userId'],
  userAgent: ['user_agent.original', 'browser.user_agent', 'http.user_agent', 'browser_userAgent'],
  browser: ['user_agent.name', 'browser.name', 'browser_name'],
  browserVersion: ['user_agent.version', 'browser.version', 'browser_version'],
  os: ['os.name', 'browser.platform', 'browser_os'],
  osVersion: ['os.version'],
  device: ['device.type'],
  isMobile: ['browser.mobile', 'browser_mobile'],
  country: ['client.geo.country.iso_code', 'geo.country.iso_code'],
  environment: ['deployment.environment.name', 'deployment.environment', 'app_environment', 'environment'],
  release: ['service.version', 'app.version', 'app_version', 'app_release'],
  sdk: ['telemetry.distro.name', 'sdk_name', 'telemetry.sdk.name'],
  sdkVersion: ['telemetry.distro.version', 'sdk_version', 'rum.version', 'splunk.rumVersion', 'telemetry.sdk.version'],
  sampling: ['browser.session.sampling_rate', 'session.sampling_rate', 'session_attr_sampling_rate'],
  traceId: ['traceID', 'trace_id'],
  spanId: ['spanID', 'span_id'],
} as const satisfies Partial<Record<MappedField, readonly string[]>>;

/** What identifies a record. All given parts must match. */
export interface EventMatch {
  readonly record: 'log' | 'span';
  /** Names of the event of a log record, or of a span. */
  readonly names?: readonly string[];
  /** Attributes with their values. */
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  /** One of these attributes is present. */
  readonly has?: readonly string[];
}

export interface EventMapping {
  readonly sdk: string;
  readonly match: EventMatch;
  readonly kind: RumEventKind;
  /** Attribute names of fields of this event, before the shared ones. */
  readonly fields?: Partial<Record<MappedField, readonly string[]>>;
  /** Texts of fields that no attribute contains. */
  readonly constants?: Partial<Record<MappedField, string>>;
  /** Several vitals in one record: attribute names by vital. */
  readonly vitals?: Readonly<Partial<Record<VitalName, string>>>;
  /** Prefixes of attributes with the times of loading a document; an empty list for events of the span. */
  readonly timings?: readonly string[];
  /** Attributes with the duration of a phase of loading a document. */
  readonly phases?: Partial<Record<LoadPhase, string>>;
  /** `document` for a page that was loaded, `route` for one within it. */
  readonly view?: 'document' | 'route';
  /** Whether spans with a parent repeat the event of their parent, and are not events. */
  readonly isRepeatedByChildren?: boolean;
}

const otel = 'OpenTelemetry';
const faro = 'Faro';
const splunk = 'Splunk and HyperDX';

const exceptionFields = {
  errorType: ['exception.type', 'error.type'],
  message: ['exception.message', 'error.message'],
  stack: ['exception.stacktrace', 'error.stack'],
  isHandled: ['exception.handled', 'error.handled'],
} as const;
const clickFields = {
  element: ['browser.css_selector', 'browser.element.selector', 'target_xpath', 'element.selector', 'element_path'],
  elementText: ['browser.element.text', 'target_text', 'element.text'],
} as const;
const requestFields = {
  target: ['url.full', 'http.url'],
  method: ['http.request.method', 'http.method'],
  status: ['http.response.status_code', 'http.status_code'],
  bytes: ['http.response.body.size', 'http.response_content_length', 'http.response.header.content-length'],
} as const;
const faroVitals = { LCP: 'value_lcp', INP: 'value_inp', CLS: 'value_cls', FCP: 'value_fcp', TTFB: 'value_ttfb' };
const faroPhases = {
  redirect: 'event_data_redirectTime',
  dns: 'event_data_dnsLookupTime',
  connect: 'event_data_tcpHandshakeTime',
  tls: 'event_data_tlsNegotiationTime',
  waiting: 'event_data_requestTime',
  download: 'event_data_responseTime',
  load: 'event_data_pageLoadTime',
};

/** The first mapping that matches counts. */
export const eventMappings: readonly EventMapping[] = [
  {
    sdk: otel,
    match: { record: 'log', names: ['browser.web_vital'] },
    kind: 'vital',
    fields: {
      name: ['browser.web_vital.name', 'name'],
      value: ['browser.web_vital.value', 'value'],
      rating: ['browser.web_vital.rating', 'rating'],
      eventId: ['browser.web_vital.id', 'id'],
      navigationType: ['browser.web_vital.navigation_type', 'navigation_type'],
    },
  },
  {
    sdk: otel,
    match: { record: 'log', names: ['browser.navigation'], attributes: { 'browser.navigation.hash_change': ['true'] } },
    kind: 'navigation',
    fields: { url: ['url.full'], navigationType: ['browser.navigation.type'] },
    constants: { name: 'hash_change' },
  },
  {
    sdk: otel,
    match: {
      record: 'log',
      names: ['browser.navigation'],
      attributes: { 'browser.navigation.same_document': ['true'] },
    },
    kind: 'view',
    view: 'route',
    fields: { url: ['url.full'], navigationType: ['browser.navigation.type'] },
  },
  {
    sdk: otel,
    match: { record: 'log', names: ['browser.navigation'] },
    kind: 'view',
    view: 'document',
    fields: { url: ['url.full'], navigationType: ['browser.navigation.type'] },
  },
  {
    sdk: otel,
    match: { record: 'log', names: ['browser.page_view'], attributes: { type: ['1', 'virtual_page'] } },
    kind: 'view',
    view: 'route',
    fields: { url: ['url.full', 'url'] },
  },
  {
    sdk: otel,
    match: { record: 'log', names: ['browser.page_view', 'browser.view'] },
    kind: 'view',
    view: 'document',
    fields: { url: ['url.full', 'url'], navigationType: ['browser.navigation.type'] },
  },
  {
    sdk: otel,
    match: { record: 'log', names: ['browser.navigation_timing'] },
    kind: 'navigation',
    fields: { url: ['url.full'], navigationType: ['browser.navigation_timing.type'] },
    constants: { name: 'timing' },
    timings: ['browser.navigation_timing.', 'browser.resource_timing.'],
  },
  {
    sdk: otel,
    match: { record: 'log', names: ['browser.resource_timing'] },
    kind: 'resource',
    fields: {
      target: ['url.full'],
      durationMs: ['browser.resource_timing.duration'],
      resourceType: ['browser.resource_timing.initiator_type'],
      bytes: ['browser.resource_timing.transfer_size'],
      encodedBytes: ['browser.resource_timing.encoded_body_size'],
      decodedBytes: ['browser.resource_timing.decoded_body_size'],
      blockingStatus: ['browser.resource_timing.render_blocking_status'],
      status: ['http.response.status_code'],
    },
  },
  {
    sdk: otel,
    match: { record: 'log', names: ['browser.user_action.click', 'browser.user_action'] },
    kind: 'action',
    fields: clickFields,
    constants: { name: 'click' },
  },
  {
    sdk: otel,
    match: { record: 'log', names: ['browser.frustration'] },
    kind: 'frustration',
    fields: { ...clickFields, name: ['browser.frustration.type'] },
  },
  {
    sdk: otel,
    match: { record: 'log', names: ['browser.console'] },
    kind: 'log',
    fields: { name: ['browser.console.method'] },
  },
  { sdk: otel, match: { record: 'log', names: ['session.start'] }, kind: 'session', constants: { name: 'start' } },
  { sdk: otel, match: { record: 'log', names: ['session.end'] }, kind: 'session', constants: { name: 'end' } },
  {
    sdk: faro,
    match: { record: 'log', attributes: { kind: ['exception'] } },
    kind: 'error',
    fields: {
      errorType: ['exception.type', 'type'],
      message: ['exception.message', 'value'],
      stack: ['exception.stacktrace', 'stacktrace'],
    },
  },
  {
    sdk: faro,
    match: { record: 'log', attributes: { kind: ['measurement'], type: ['web-vitals'] } },
    kind: 'vital',
    vitals: faroVitals,
    fields: {
      rating: ['context_rating'],
      eventId: ['context_id'],
      navigationType: ['context_navigation_type'],
      element: ['context_element', 'context_interaction_target'],
    },
  },
  {
    sdk: faro,
    match: { record: 'log', attributes: { kind: ['measurement'] } },
    kind: 'custom',
    fields: { name: ['type'] },
  },
  {
    sdk: faro,
    match: { record: 'log', attributes: { kind: ['event'], event_name: ['faro.performance.navigation'] } },
    kind: 'view',
    view: 'document',
    fields: { url: ['page_url', 'event_data_name'], navigationType: ['event_data_type'] },
    timings: ['event_data_'],
    phases: faroPhases,
  },
  // The page names the view of its document.
  {
    sdk: faro,
    match: {
      record: 'log',
      attributes: { kind: ['event'], event_name: ['view_changed'], event_data_fromView: ['unknown'] },
    },
    kind: 'navigation',
    constants: { name: 'view_name' },
  },
  {
    sdk: faro,
    match: {
      record: 'log',
      attributes: { kind: ['event'], event_name: ['view_changed', 'route_change', 'faro.navigation'] },
    },
    kind: 'view',
    view: 'route',
    fields: { route: ['event_data_name', 'event_data_toRoute', 'view_name'], url: ['event_data_toUrl', 'page_url'] },
  },
  {
    sdk: faro,
    match: {
      record: 'log',
      attributes: { kind: ['event'], event_name: ['faro.performance.resource', 'faro.performanceEntry'] },
    },
    kind: 'resource',
    fields: {
      target: ['event_data_name'],
      durationMs: ['event_data_duration'],
      resourceType: ['event_data_initiatorType'],
      bytes: ['event_data_transferSize'],
      encodedBytes: ['event_data_encodedBodySize'],
      decodedBytes: ['event_data_decodedBodySize'],
      blockingStatus: ['event_data_renderBlockingStatus'],
      cacheStatus: ['event_data_cacheHitStatus'],
      status: ['event_data_responseStatus'],
    },
  },
  {
    sdk: faro,
    match: {
      record: 'log',
      attributes: { kind: ['event'], event_name: ['faro.user.action', 'click', 'faro.user-action'] },
    },
    kind: 'action',
    fields: {
      name: ['event_data_userActionName', 'event_data_userActionTrigger', 'event_name'],
      element: ['event_data_element', 'event_data_target'],
      durationMs: ['event_data_userActionDuration'],
    },
  },
  {
    sdk: faro,
    match: {
      record: 'log',
      attributes: { kind: ['event'], event_name: ['session_start', 'session_resume', 'session_extend'] },
    },
    kind: 'session',
    constants: { name: 'start' },
  },
  {
    sdk: faro,
    match: { record: 'log', attributes: { kind: ['event'] }, has: ['event_name'] },
    kind: 'custom',
    fields: { name: ['event_name'] },
  },
  {
    sdk: faro,
    match: { record: 'log', attributes: { kind: ['log'] }, has: ['sdk_name', 'level'] },
    kind: 'log',
    fields: { name: ['level'], message: ['message'] },
  },
  {
    sdk: otel,
    match: { record: 'log', has: ['exception.type', 'exception.message', 'exception.stacktrace'] },
    kind: 'error',
    fields: exceptionFields,
  },
  {
    sdk: splunk,
    match: { record: 'span', names: ['webvitals'] },
    kind: 'vital',
    vitals: { LCP: 'lcp', INP: 'inp', CLS: 'cls', FCP: 'fcp', TTFB: 'ttfb' },
    fields: {
      eventId: ['webvitals.metric_id', 'webvitals.id'],
      navigationType: ['webvitals.navigation_type'],
      rating: ['webvitals.rating'],
    },
  },
  {
    sdk: splunk,
    match: { record: 'span', names: ['frustration'] },
    kind: 'frustration',
    fields: { ...clickFields, name: ['frustration_type'] },
  },
  {
    sdk: splunk,
    match: { record: 'span', names: ['routeChange'] },
    kind: 'view',
    view: 'route',
    fields: { url: ['location.href'], referrer: ['prev.href'] },
  },
  {
    sdk: otel,
    match: { record: 'span', names: ['documentLoad'] },
    kind: 'view',
    view: 'document',
    fields: { url: ['location.href', 'url.full', 'http.url'] },
    timings: [],
  },
  {
    sdk: otel,
    match: { record: 'span', names: ['documentFetch'] },
    kind: 'resource',
    fields: requestFields,
    constants: { resourceType: 'document' },
  },
  {
    sdk: otel,
    match: { record: 'span', names: ['resourceFetch'] },
    kind: 'resource',
    fields: { ...requestFields, resourceType: ['browser.resource_timing.initiator_type', 'component'] },
  },
  {
    sdk: splunk,
    match: {
      record: 'span',
      names: ['onerror', 'unhandledrejection', 'console.error', 'SplunkRum.error', 'eventListener.error'],
    },
    kind: 'error',
    fields: {
      ...exceptionFields,
      errorType: ['exception.type', 'error.object', 'error.type'],
      message: ['exception.message', 'error.message'],
    },
  },
  {
    sdk: splunk,
    match: { record: 'span', attributes: { component: ['error'] } },
    kind: 'error',
    fields: exceptionFields,
  },
  {
    sdk: otel,
    match: { record: 'span', has: ['target_xpath', 'event_type', 'target_element'] },
    kind: 'action',
    fields: { ...clickFields, name: ['event_type'], url: ['url.full', 'http.url', 'location.href'] },
    // Each listener of a click has a span, and the first one is the parent of the others.
    isRepeatedByChildren: true,
  },
  {
    sdk: otel,
    match: { record: 'span', has: ['http.url', 'url.full', 'http.request.method', 'http.method'] },
    kind: 'request',
    fields: requestFields,
  },
  { sdk: splunk, match: { record: 'span', names: ['session.start'] }, kind: 'session', constants: { name: 'start' } },
];
