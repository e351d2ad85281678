/**
 * Synthetic systems with one fault or none, among changes that look like causes and are not. The same seed gives the
 * same case.
 */
import { getDurationBucket } from '../../../schemas/tables/durations.ts';
import {
  type Change,
  type Gauge,
  type IncidentContext,
  type MinuteActivity,
  minuteMs,
  type Novelty,
} from '../../../subjects/causes/incident-context.ts';
import type { CauseKind } from '../../../subjects/causes/score-causes.ts';
import { randomOf } from '../random.ts';

const drawing = (seed: number) => {
  const next = randomOf(seed);
  const between = (from: number, to: number): number => from + (to - from) * next();
  const whole = (from: number, to: number): number => Math.floor(between(from, to + 1));
  const of = <One>(all: readonly One[]): One => all[Math.floor(next() * all.length)] as One;
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return { next, between, whole, of, normal };
};
type Random = ReturnType<typeof drawing>;

export const faultKinds = [
  ...(['bad-deployment', 'slow-deployment', 'configuration', 'oom-kill', 'restart', 'cpu', 'neighbour'] as const),
  ...(['disk', 'pool', 'slow-database', 'failing-database', 'flag'] as const),
] as const;
export type FaultKind = (typeof faultKinds)[number];
/** `chance`: an alert without any cause; `unseen`: the service fails by itself, and no record shows why. */
export type CaseKind = FaultKind | 'chance' | 'unseen';

export interface FaultCase {
  readonly kind: CaseKind;
  readonly incidentContext: IncidentContext;
  /** The cause of the symptom; undefined if no cause may be claimed. */
  readonly truth: { readonly kind: CauseKind; readonly at: string } | undefined;
}

const originMs = Date.UTC(2026, 2, 1);
const faultMinute = 75;

interface Place {
  readonly node: string;
  readonly hosts: readonly string[];
  readonly calls: { readonly to: string; readonly times: number; readonly passes: number }[];
  readonly base: number;
  readonly failing: number;
}

/** What a fault adds to a node on a host in a minute. */
interface Effect {
  readonly errors: number;
  readonly slower: number;
}
type EffectAt = (node: string, host: string, minute: number) => Effect;

/** A tree of calls with three or four levels, some shared callees, databases, and a few services outside the tree. */
const systemOf = (random: Random) => {
  const names = ['web', 'api', 'cart', 'orders', 'pay', 'stock', 'mail', 'search', 'auth', 'rates'];
  const count = random.whole(6, 9);
  const services = names.slice(0, count).map((name) => `service:${name}`);
  const hosts = Array.from({ length: random.whole(3, 5) }, (_, index) => `host-${index}`);
  const places = new Map<string, Place>();
  for (const [index, node] of services.entries()) {
    const first = random.whole(0, hosts.length - 1);
    const own = Array.from({ length: random.whole(1, 3) }, (_, at) => hosts[(first + at) % hosts.length] as string);
    places.set(node, {
      node,
      hosts: [...new Set(own)],
      calls: [],
      base: random.between(5e6, 4e7),
      failing: index === 0 ? 0.002 : random.between(0, 0.004),
    });
  }
  // No service of the tree calls the last two: their requests come from outside.
  const inTree = services.slice(0, -2);
  for (const [index, node] of inTree.entries()) {
    if (index === 0) continue;
    const caller = inTree[Math.max(0, index - random.whole(1, 2))] as string;
    places.get(caller)?.calls.push({ to: node, times: random.of([1, 1, 2]), passes: random.of([1, 1, 0.9]) });
  }
  const databases = inTree
    .slice(1)
    .filter(() => random.next() < 0.5)
    .map((node) => ({ node, to: `database:postgresql:${node.slice(8)}` }));
  for (const { node, to } of databases) places.get(node)?.calls.push({ to, times: 1, passes: 1 });
  return { services, inTree, hosts, places, databases: databases.map(({ to }) => to), outside: services.slice(-2) };
};
type System = ReturnType<typeof systemOf>;

const maxSamples = 60;

interface Sample {
  readonly duration: number;
  readonly isError: boolean;
}

const minuteOf = (samples: readonly Sample[], atMs: number): MinuteActivity => {
  const buckets = new Map<number, number>();
  let [errors, durationSum] = [0, 0];
  for (const { duration, isError } of samples) {
    const bucket = getDurationBucket(duration);
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
    durationSum += duration;
    if (isError) errors++;
  }
  return { atMs, requests: samples.length, errors, durationSum, buckets };
};

/** Calls from a request to other nodes; each takes time and may fail. */
interface Calling {
  readonly call: Place['calls'][number];
  readonly samples: readonly Sample[];
  /** The calls that the request made. */
  readonly outgoing: Sample[];
}

const withCalls = (own: Sample, callees: readonly Calling[], index: number, random: Random): Sample => {
  let { duration, isError } = own;
  for (const { call, samples, outgoing } of callees)
    for (let time = 0; time < call.times; time++) {
      const sample = samples[(index * call.times + time) % samples.length] as Sample;
      outgoing.push(sample);
      duration += sample.duration;
      if (sample.isError && random.next() < call.passes) isError = true;
    }
  return { duration, isError };
};

const push = <Key, One>(lists: Map<Key, One[]>, key: Key, one: One): void => {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [one]);
  else known.push(one);
};

/** The requests of each node by minute, from the callees up. */
const simulated = (
  system: System,
  random: Random,
  minutes: number,
  effect: EffectAt,
  traffic: (node: string, minute: number) => number,
) => {
  const { places, databases } = system;
  const nodes = new Map<string, MinuteActivity[]>();
  const hosts = new Map<string, Map<string, MinuteActivity[]>>();
  const edges = new Map<string, { client: string; server: string; minutes: MinuteActivity[] }>();
  const rates = new Map(system.services.map((node) => [node, random.between(10, 60)]));
  /** A slow minute slows all its requests. */
  const drawn = (node: string, number: number, minute: number, callees: readonly Calling[]): Map<string, Sample[]> => {
    const place = places.get(node);
    const wobble = Math.exp(0.08 * random.normal());
    const byHost = new Map<string, Sample[]>();
    for (let index = 0; index < number; index++) {
      const host = place === undefined ? '' : (place.hosts[index % place.hosts.length] as string);
      const { errors, slower } = effect(node, host, minute);
      const own = {
        duration: (place?.base ?? 4e6) * wobble * slower * Math.exp(0.5 * random.normal()),
        isError: random.next() < (place?.failing ?? 0.001) + errors,
      };
      push(byHost, host, withCalls(own, callees, index, random));
    }
    return byHost;
  };
  const note = (
    node: string,
    byHost: ReadonlyMap<string, Sample[]>,
    callees: readonly Calling[],
    atMs: number,
  ): void => {
    for (const { call, outgoing } of callees) {
      const key = `${node} ${call.to}`;
      const edge = edges.get(key) ?? { client: node, server: call.to, minutes: [] };
      edges.set(key, edge);
      edge.minutes.push(minuteOf(outgoing, atMs));
    }
    if (databases.includes(node)) return;
    push(nodes, node, minuteOf([...byHost.values()].flat(), atMs));
    const known = hosts.get(node) ?? new Map<string, MinuteActivity[]>();
    hosts.set(node, known);
    for (const [host, samples] of byHost) push(known, host, minuteOf(samples, atMs));
  };
  for (let minute = 0; minute < minutes; minute++) {
    const memo = new Map<string, Sample[]>();
    const samplesOf = (node: string, count: number): Sample[] => {
      const known = memo.get(node);
      if (known !== undefined) return known;
      const max = system.outside.includes(node) ? 4 * maxSamples : maxSamples;
      const number = Math.min(max, Math.max(1, Math.round(count)));
      const callees = (places.get(node)?.calls ?? []).map((call): Calling => {
        return { call, samples: samplesOf(call.to, number * call.times), outgoing: [] };
      });
      const byHost = drawn(node, number, minute, callees);
      note(node, byHost, callees, originMs + minute * minuteMs);
      const own = [...byHost.values()].flat();
      memo.set(node, own);
      return own;
    };
    for (const node of [system.inTree[0] as string, ...system.outside])
      samplesOf(node, (rates.get(node) ?? 30) * traffic(node, minute) * Math.exp(0.1 * random.normal()));
  }
  return { nodes, hosts, edges: [...edges.values()] };
};

/** The path from the entry to a node. */
const pathTo = ({ places, inTree }: System, target: string): string[] => {
  const search = (node: string): string[] | undefined => {
    if (node === target) return [node];
    for (const { to } of places.get(node)?.calls ?? []) {
      const rest = search(to);
      if (rest !== undefined) return [node, ...rest];
    }
    return undefined;
  };
  return search(inTree[0] as string) ?? [target];
};

const changeOf = (kind: Change['kind'], node: string, minute: number, title = `${kind} of ${node}`): Change => ({
  kind,
  node,
  title,
  link: '',
  atMs: originMs + Math.round(minute * minuteMs),
});
const gaugeOf = (
  random: Random,
  minutes: number,
  of: Omit<Gauge, 'values' | 'link'>,
  share: (minute: number) => number,
): Gauge => ({
  ...of,
  link: '',
  values: Array.from({ length: minutes }, (_, minute) => [
    originMs + minute * minuteMs,
    Math.max(0, Math.min(1, share(minute) + 0.02 * random.normal())),
  ]),
});
const noveltyOf = (kind: Novelty['kind'], node: string, minute: number, count: number): Novelty => ({
  kind,
  node,
  count,
  title: `${kind} of ${node}`,
  link: '',
  firstMs: originMs + Math.round(minute * minuteMs),
});

/** The state of a case before its minutes are simulated. */
interface CaseDraft {
  readonly random: Random;
  readonly system: System;
  readonly kind: CaseKind;
  /** The node with the fault, the calls to it, and a host that it runs on. */
  readonly target: string;
  readonly path: readonly string[];
  readonly host: string;
  readonly minutes: number;
  readonly changes: Change[];
  readonly gauges: Gauge[];
  readonly novelties: Novelty[];
}

interface Fault {
  readonly effect: Effect;
  readonly truth?: FaultCase['truth'];
  readonly isOfHost?: boolean;
  readonly neighbour?: string;
}

const begin = faultMinute;
const isSince = (minute: number): boolean => minute >= begin - 1;

/** Half of the faults are small. */
const effectOf = ({ random }: CaseDraft, kind: 'errors' | 'slower'): Effect => {
  const isSmall = random.next() < 0.5;
  if (kind === 'errors') return { errors: isSmall ? random.between(0.05, 0.15) : random.between(0.15, 0.4), slower: 1 };
  return { errors: 0, slower: isSmall ? random.between(1.5, 2.5) : random.between(2.5, 6) };
};

const ofChange = (draft: CaseDraft, kind: 'deployment' | 'configuration', effect: Effect): Fault => {
  const { random, target, changes, novelties } = draft;
  changes.push(changeOf(kind, target, begin - random.between(0.2, 2.5)));
  if (effect.errors > 0 && random.next() < 0.7)
    novelties.push(noveltyOf('error', target, begin, random.whole(20, 300)));
  return { effect, truth: { kind, at: target } };
};

const ofHost = (draft: CaseDraft, resource: 'cpu' | 'disk', effect: Effect, neighbour = ''): Fault => {
  const { random, host, minutes, gauges } = draft;
  const title = `${resource} of ${host}`;
  gauges.push(gaugeOf(random, minutes, { resource, host, title }, (minute) => (isSince(minute) ? 0.99 : 0.5)));
  const truth =
    neighbour === '' ? ({ kind: 'saturation', at: host } as const) : ({ kind: 'neighbour', at: neighbour } as const);
  return { effect, truth, isOfHost: true, neighbour };
};

const faults: Readonly<Record<CaseKind, (draft: CaseDraft) => Fault>> = {
  'bad-deployment': (draft) => ofChange(draft, 'deployment', effectOf(draft, 'errors')),
  'slow-deployment': (draft) => ofChange(draft, 'deployment', effectOf(draft, 'slower')),
  configuration: (draft) =>
    ofChange(draft, 'configuration', effectOf(draft, draft.random.next() < 0.5 ? 'errors' : 'slower')),
  'oom-kill': (draft) => {
    const { random, target, minutes, changes, gauges } = draft;
    changes.push(changeOf('oom-kill', target, begin - 0.5), changeOf('restart', target, begin - 0.3));
    const share = (minute: number): number => (minute < begin ? 0.5 + (0.48 * minute) / begin : 0.6);
    gauges.push(gaugeOf(random, minutes, { resource: 'memory', node: target, title: `memory of ${target}` }, share));
    return { effect: effectOf(draft, 'errors'), truth: { kind: 'oom-kill', at: target } };
  },
  restart: (draft) => {
    draft.changes.push(changeOf('restart', draft.target, begin - 0.5));
    return { effect: effectOf(draft, 'errors'), truth: { kind: 'restart', at: draft.target } };
  },
  cpu: (draft) => ofHost(draft, 'cpu', effectOf(draft, 'slower')),
  disk: (draft) => ofHost(draft, 'disk', effectOf(draft, 'errors')),
  neighbour: (draft) => ofHost(draft, 'cpu', effectOf(draft, 'slower'), draft.random.of(draft.system.outside)),
  pool: (draft) => {
    const { random, target, minutes, gauges } = draft;
    const of = { resource: 'pool', node: target, title: `pool of ${target}` } as const;
    gauges.push(gaugeOf(random, minutes, of, (minute) => (isSince(minute) ? 1 : 0.4)));
    return { effect: effectOf(draft, 'slower'), truth: { kind: 'saturation', at: target } };
  },
  'slow-database': (draft) => {
    const { slower } = effectOf(draft, 'slower');
    return { effect: { errors: 0, slower: 8 * slower }, truth: { kind: 'callee', at: draft.target } };
  },
  'failing-database': (draft) => ({
    effect: effectOf(draft, 'errors'),
    truth: { kind: 'callee', at: draft.target },
  }),
  flag: (draft) => {
    const { random, target, novelties } = draft;
    novelties.push(noveltyOf('log-pattern', target, begin - random.between(1.2, 2.5), random.whole(3, 30)));
    return { effect: effectOf(draft, 'errors'), truth: { kind: 'log-pattern', at: target } };
  },
  unseen: (draft) => ({ effect: effectOf(draft, draft.random.next() < 0.5 ? 'errors' : 'slower') }),
  chance: () => ({ effect: { errors: 0, slower: 1 } }),
};

/** Adds changes that look like causes and are not; `loud` fails by itself, and nothing calls it. */
const distract = (
  { random, system, target, path, minutes, changes, gauges, novelties }: CaseDraft,
  loud: string,
): void => {
  const { hosts, places, outside, inTree } = system;
  const services = path.filter((node) => node.startsWith('service:'));
  const callers = services.filter((node) => node !== target);
  const called = new Set((places.get(target)?.calls ?? []).map(({ to }) => to));
  const unrelated = [...outside, ...inTree.filter((node) => !path.includes(node) && !called.has(node))];
  const elsewhere = hosts.filter((each) => !(places.get(target)?.hosts ?? []).includes(each));
  const ways: readonly (() => unknown)[] = [
    () => changes.push(changeOf('deployment', random.of(unrelated), begin + random.between(-4, 1))),
    () => changes.push(changeOf('configuration', random.of(unrelated), begin + random.between(-4, 1))),
    () =>
      callers.length > 0 && changes.push(changeOf('deployment', random.of(callers), begin - random.between(0.5, 15))),
    () => changes.push(changeOf('deployment', target, begin - random.between(15, 50), `former one of ${target}`)),
    () => novelties.push(noveltyOf('error', loud, begin - 2, random.whole(500, 5000))),
    () => {
      const kind = random.of(['error', 'log-pattern'] as const);
      novelties.push(noveltyOf(kind, random.of(services), begin + random.between(0, 3), random.whole(20, 2000)));
    },
    () => changes.push(changeOf('restart', random.of(services), begin + random.between(3.5, 8), 'one that followed')),
    () => {
      const of = {
        resource: 'cpu',
        host: random.of([...elsewhere, 'host-of-others']),
        title: 'cpu elsewhere',
      } as const;
      gauges.push(gaugeOf(random, minutes, of, (minute) => (minute < begin - 2 ? 0.3 : 0.99)));
    },
    () =>
      gauges.push(
        gaugeOf(random, minutes, { resource: 'disk', host: random.of(hosts), title: 'always full' }, () => 0.95),
      ),
    () => {
      const of = { resource: 'memory', node: random.of(services), title: 'memory that grows' } as const;
      gauges.push(gaugeOf(random, minutes, of, (minute) => 0.3 + (0.3 * minute) / minutes));
    },
    () => changes.push(changeOf('oom-kill', random.of(unrelated), begin - random.between(0, 3))),
  ];
  const count = random.whole(3, 7);
  for (let index = 0; index < count; index++) random.of(ways)();
};

/** Creates one case of a kind. A database fault needs a system that has a database. */
export const faultCase = (seed: number, kind: CaseKind): FaultCase => {
  const random = drawing(seed * 7919 + 13);
  const system = systemOf(random);
  const { inTree, hosts, places, outside, databases } = system;
  const isDatabase = kind === 'slow-database' || kind === 'failing-database';
  if (isDatabase && databases.length === 0) return faultCase(seed + 100_000, kind);
  const noticed = begin + random.whole(3, 12);
  const minutes = noticed + random.whole(3, 15);
  const target = isDatabase ? random.of(databases) : random.of(inTree);
  const path = pathTo(system, target);
  // The symptom is at the fault or at a caller; for `unseen`, it is at the fault.
  const symptom = kind === 'unseen' ? target : random.of(path.filter((node) => node.startsWith('service:')));
  const host = random.of(places.get(target)?.hosts ?? hosts);
  const draft: CaseDraft = {
    random,
    system,
    kind,
    target,
    path,
    host,
    minutes,
    changes: [],
    gauges: [],
    novelties: [],
  };
  const { effect, truth, isOfHost = false, neighbour = '' } = faults[kind](draft);
  const neighbourPlace = places.get(neighbour);
  if (neighbourPlace !== undefined)
    places.set(neighbour, { ...neighbourPlace, hosts: [...new Set([...neighbourPlace.hosts, host])] });
  const loud = outside.find((node) => node !== neighbour) ?? '';
  distract(draft, loud);

  const isLoud = random.next() < 0.6;
  // Some faults grow over several minutes.
  const grows = random.next() < 0.3 ? random.whole(3, 8) : 1;
  const effectAt: EffectAt = (node, on, minute) => {
    if (isLoud && node === loud && minute >= begin - 2) return { errors: 0.6, slower: 3 };
    if (minute < begin || node !== target || (isOfHost && on !== host)) return { errors: 0, slower: 1 };
    const part = Math.min(1, (minute - begin + 1) / grows);
    return { errors: part * effect.errors, slower: 1 + part * (effect.slower - 1) };
  };
  const surge = random.next() < 0.3 ? (inTree[0] ?? '') : '';
  const traffic = (node: string, minute: number): number => {
    if (node === neighbour && isSince(minute)) return 4;
    return node === surge && minute >= begin - 10 ? 1.3 : 1;
  };
  const { nodes, hosts: onHosts, edges } = simulated(system, random, minutes, effectAt, traffic);
  const { changes, gauges, novelties } = draft;
  return {
    kind,
    truth,
    incidentContext: {
      symptoms: [symptom],
      nodes,
      hosts: onHosts,
      edges,
      changes,
      gauges,
      novelties,
      detectedMs: originMs + noticed * minuteMs,
      untilMs: originMs + minutes * minuteMs,
    },
  };
};
