/** What the script observes in a page: views, web vitals, resources, clicks and errors. */
import { type Metric, onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals';
import { guard } from './guard.ts';
import type { Attributes } from './otlp.ts';

/** An observed event. `isActive`: by the visitor, so that the session continues. */
export interface Observed {
  readonly eventName: string;
  readonly attributes: Attributes;
  readonly timeMs?: number;
  readonly severityNumber?: number;
  readonly isActive?: boolean;
  /** Whether the event belongs to the document rather than to the view that is shown now */
  readonly isOfDocument?: boolean;
}

type Report = (observed: Observed) => void;

const listen = (target: EventTarget, type: string, listener: (event: never) => void): void =>
  target.addEventListener(type, guard(listener as (event: Event) => void), { capture: true, passive: true });

const observeVitals = (report: Report): void => {
  const reportVital = guard(({ name, value, delta, id, rating, navigationType }: Metric): void =>
    report({
      eventName: 'browser.web_vital',
      isOfDocument: true,
      attributes: {
        'browser.web_vital.name': name.toLowerCase(),
        'browser.web_vital.value': value,
        'browser.web_vital.delta': delta,
        'browser.web_vital.id': id,
        'browser.web_vital.rating': rating,
        'browser.web_vital.navigation_type': navigationType,
      },
    }),
  );
  for (const observe of [onLCP, onINP, onFCP, onTTFB]) observe(reportVital);
  // Each value under one id, of which the last counts: what is reported while the page is left may be lost.
  onCLS(reportVital, { reportAllChanges: true });
};

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const readTimings = (entry: PerformanceEntry, names: readonly string[], prefix: string): Attributes => {
  const values = entry as unknown as Readonly<Record<string, number | string>>;
  return Object.fromEntries(names.map((name) => [`${prefix}.${toSnakeCase(name)}`, values[name]]));
};

const resourceTimings = [
  'initiatorType',
  'duration',
  'fetchStart',
  'domainLookupStart',
  'domainLookupEnd',
  'connectStart',
  'connectEnd',
  'secureConnectionStart',
  'requestStart',
  'responseStart',
  'responseEnd',
  'redirectStart',
  'redirectEnd',
  'transferSize',
  'encodedBodySize',
  'decodedBodySize',
  'nextHopProtocol',
  'renderBlockingStatus',
];
const documentTimings = [
  'type',
  'domInteractive',
  'domContentLoadedEventStart',
  'domContentLoadedEventEnd',
  'domComplete',
  'loadEventStart',
  'loadEventEnd',
  'redirectCount',
];
const resourcePrefix = 'browser.resource_timing';

const toTimingEvent = (entry: PerformanceEntry): Observed => ({
  eventName: resourcePrefix,
  timeMs: performance.timeOrigin + entry.startTime,
  attributes: {
    'url.full': entry.name,
    'http.response.status_code': (entry as { readonly responseStatus?: number }).responseStatus || undefined,
    ...readTimings(entry, resourceTimings, resourcePrefix),
  },
});

const observeResources = (report: Report, isIgnored: (entry: PerformanceResourceTiming) => boolean): void => {
  const observer = new PerformanceObserver(
    guard((list) => {
      for (const entry of list.getEntries())
        if (!isIgnored(entry as PerformanceResourceTiming)) {
          loadedResources++;
          report(toTimingEvent(entry));
        }
    }),
  );
  observer.observe({ type: 'resource', buffered: true });
};

const reportDocumentTiming = (report: Report): void => {
  const reportTiming = guard((): void => {
    const [entry] = performance.getEntriesByType('navigation');
    if (entry === undefined) return;
    report({
      eventName: 'browser.navigation_timing',
      isOfDocument: true,
      attributes: {
        'url.full': location.href,
        ...readTimings(entry, documentTimings, 'browser.navigation_timing'),
        ...readTimings(entry, resourceTimings, resourcePrefix),
      },
    });
  });
  // The end of the load event is known after it.
  const reportLater = (): unknown => setTimeout(reportTiming);
  if (document.readyState === 'complete') reportLater();
  else window.addEventListener('load', reportLater);
};

const observeViews = (report: (observed: Observed, isNewDocument: boolean) => void): void => {
  let url = '';
  const reportView = (isSameDocument: boolean, type: string): void => {
    const isHashChange = isSameDocument && url.split('#')[0] === location.href.split('#')[0];
    url = location.href;
    report(
      {
        eventName: 'browser.navigation',
        isActive: true,
        attributes: {
          'url.full': url,
          'browser.navigation.same_document': isSameDocument,
          'browser.navigation.hash_change': isHashChange,
          'browser.navigation.type': type,
        },
      },
      !isSameDocument,
    );
  };
  const reportChange = guard((type: string): void => {
    if (location.href !== url) reportView(true, type);
  });
  reportView(false, '');
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name];
    history[name] = function (this: History, ...given: Parameters<typeof original>) {
      original.apply(this, given);
      reportChange(name === 'pushState' ? 'push' : 'replace');
    };
  }
  listen(window, 'popstate', () => reportChange('traverse'));
  listen(window, 'hashchange', () => reportChange('traverse'));
  listen(window, 'pageshow', ({ persisted }: PageTransitionEvent) => {
    if (persisted) reportView(false, 'traverse');
  });
};

const maxSelectorParts = 5;

const toSelectorPart = (element: Element): string => {
  const name = element.localName;
  if (element.id !== '') return `${name}#${CSS.escape(element.id)}`;
  const siblings = [...(element.parentElement?.children ?? [])].filter(({ localName }) => localName === name);
  return siblings.length > 1 ? `${name}:nth-of-type(${siblings.indexOf(element) + 1})` : name;
};

/** Returns a selector of an element. It ends at an element with an id, and has no text of the page. */
const toSelector = (element: Element): string => {
  const parts: string[] = [];
  for (let current: Element | null = element; current !== null; current = current.parentElement) {
    const part = toSelectorPart(current);
    parts.unshift(part);
    if (part.includes('#') || parts.length === maxSelectorParts) break;
  }
  return parts.join(' > ');
};

/** A click that changes nothing within this time is dead. */
const deadClickMs = 2_000;
/** Elements that people expect to react. Links leave the page. */
const reactingElements = 'button,[role=button],[onclick],input[type=button],input[type=submit]';
/** Resources that the page has loaded; the buffer of the browser ends at some. */
let loadedResources = 0;

/** Reports a click on a button after which the page neither changes, scrolls, navigates nor loads anything. */
const watchClick = (target: Element, report: (timeMs: number) => void): void => {
  if (target.closest(reactingElements) === null) return;
  const timeMs = performance.timeOrigin + performance.now();
  const [url, resources] = [location.href, loadedResources];
  let hasReacted = false;
  const react = (): void => {
    hasReacted = true;
  };
  const observer = new MutationObserver(react);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const types = ['scroll', 'input', 'pagehide', 'visibilitychange'];
  for (const type of types) addEventListener(type, react, true);
  const finish = guard((): void => {
    observer.disconnect();
    for (const type of types) removeEventListener(type, react, true);
    if (!hasReacted && url === location.href && resources === loadedResources) report(timeMs);
  });
  setTimeout(finish, deadClickMs);
};

const observeClicks = (report: Report): void =>
  listen(document, 'click', (event: MouseEvent) => {
    const [target] = event.composedPath();
    if (!(target instanceof Element)) return;
    const element = { 'browser.css_selector': toSelector(target), 'browser.tag_name': target.tagName };
    watchClick(target, (timeMs) =>
      report({
        eventName: 'browser.frustration',
        timeMs,
        attributes: { ...element, 'browser.frustration.type': 'dead_click' },
      }),
    );
    report({
      eventName: 'browser.user_action.click',
      isActive: true,
      attributes: {
        ...element,
        'browser.mouse_event.button': event.button,
        'browser.page.x': event.pageX,
        'browser.page.y': event.pageY,
      },
    });
  });

const maxDebugIds = 20;

/** Returns the first URL of a stack, without its line and column. */
const readFirstUrl = (stack: string): string => {
  const start = stack.indexOf('http');
  const [place = ''] = start < 0 ? [] : stack.slice(start).split(/[\s)]/, 1);
  return place.replace(/:\d{1,9}:\d{1,9}$/, '');
};

/** Returns the debug ids (ECMA-426) that bundlers register by the stack of each bundle, as JSON by URL. */
const readDebugIds = (stack = ''): string | undefined => {
  const registered = (globalThis as { _sentryDebugIds?: Readonly<Record<string, string>> })._sentryDebugIds ?? {};
  const entries = Object.entries(registered).flatMap(([registeredStack, id]) => {
    const url = readFirstUrl(registeredStack);
    return url !== '' && stack.includes(url) ? [[url, id] as const] : [];
  });
  return entries.length === 0 ? undefined : JSON.stringify(Object.fromEntries(entries.slice(0, maxDebugIds)));
};

/** Returns the event of a thrown value. */
export const toExceptionEvent = (thrown: unknown, message: string, isHandled: boolean): Observed => {
  const { name, message: ownMessage, stack } = thrown instanceof Error ? thrown : new Error(message || String(thrown));
  return {
    eventName: 'exception',
    severityNumber: 17,
    attributes: {
      'exception.type': thrown instanceof Error ? name : 'Error',
      'exception.message': ownMessage,
      'exception.stacktrace': thrown instanceof Error ? stack : undefined,
      'exception.handled': isHandled,
      'exception.debug_ids': readDebugIds(stack),
    },
  };
};

const observeErrors = (report: Report): void => {
  listen(window, 'error', ({ error, message }: ErrorEvent) => {
    if (error !== undefined || message) report(toExceptionEvent(error, message, false));
  });
  listen(window, 'unhandledrejection', ({ reason }: PromiseRejectionEvent) => {
    report(toExceptionEvent(reason, '', false));
  });
};

/** Observes the page from now on. One observer that is not supported does not affect the others. */
export const observePage = (options: {
  readonly report: Report;
  readonly reportView: (observed: Observed, isNewDocument: boolean) => void;
  readonly isIgnored: (entry: PerformanceResourceTiming) => boolean;
}): void => {
  const { report, reportView, isIgnored } = options;
  guard(observeViews)(reportView);
  guard(observeErrors)(report);
  guard(observeClicks)(report);
  guard(observeVitals)(report);
  guard(observeResources)(report, isIgnored);
  guard(reportDocumentTiming)(report);
};
