/**
 * What an eBPF agent would see of a service: facts of OpenTelemetry eBPF Instrumentation. What a fact does not state is
 * unknown.
 */
import { z } from 'zod';

export const Prediction = z.strictObject({
  agent: z.string(),
  canRun: z.boolean().nullable().describe('Whether the kernel of the host is new enough; `null` if it is unknown'),
  reasons: z.array(z.string()).describe('Facts that the prediction follows from'),
  protocols: z.array(z.string()).describe('Protocols whose requests would be seen'),
  joinsTraces: z.string().describe('Which requests would be part of the traces of other services'),
  missing: z.array(z.string()).describe('What would not be seen'),
});
export type Prediction = z.output<typeof Prediction>;

const protocols = ['HTTP/1.1', 'HTTP/2', 'gRPC', 'PostgreSQL', 'MySQL', 'Redis', 'MongoDB', 'Kafka'];
const minKernel = [5, 8] as const;
/** Kernels of Red Hat Enterprise Linux have the features from this version on. */
const minRedHatKernel = [4, 18] as const;

/** Facts of runtimes by `telemetry.sdk.language` or the name of the runtime */
const runtimeFacts: Readonly<Record<string, { readonly joinsTraces: string; readonly missing: readonly string[] }>> = {
  go: { joinsTraces: 'HTTP and gRPC', missing: [] },
  nodejs: { joinsTraces: 'HTTP/1.1', missing: ['gRPC is not part of other traces'] },
  python: { joinsTraces: 'HTTP/1.1', missing: ['gRPC is not part of other traces'] },
  ruby: { joinsTraces: 'HTTP/1.1', missing: ['gRPC is not part of other traces'] },
  dotnet: { joinsTraces: 'HTTP/1.1', missing: ['gRPC is not part of other traces'] },
  java: { joinsTraces: 'HTTP/1.1', missing: ['gRPC is not part of other traces', 'contents of TLS connections'] },
  rust: { joinsTraces: 'HTTP/1.1', missing: ['connections encrypted by rustls', 'gRPC is not part of other traces'] },
};
const aliases: Readonly<Record<string, string>> = {
  node: 'nodejs',
  cpython: 'python',
  'openjdk runtime environment': 'java',
  '.net': 'dotnet',
};

/** Returns whether a kernel is new enough; null for a text that is not a version. */
const isKernelSupported = (kernel: string): boolean | null => {
  const [, major, minor] = /^(\d{1,3})\.(\d{1,3})/.exec(kernel) ?? [];
  if (major === undefined || minor === undefined) return null;
  const [minMajor, minMinor] = /\bel\d/.test(kernel) ? minRedHatKernel : minKernel;
  return Number(major) > minMajor || (Number(major) === minMajor && Number(minor) >= minMinor);
};

/** `kernel` and `runtime` are empty if they are unknown. */
export const predictCoverage = ({
  kernel,
  runtime,
}: {
  readonly kernel: string;
  readonly runtime: string;
}): Prediction => {
  const canRun = isKernelSupported(kernel);
  const name = runtime.toLowerCase();
  const facts = runtimeFacts[aliases[name] ?? name];
  return {
    agent: 'obi',
    canRun,
    reasons: [
      canRun === null
        ? 'The kernel is unknown: version 5.8 or later with BTF is required (4.18 on Red Hat Enterprise Linux).'
        : `Kernel ${kernel} is ${canRun ? 'new enough' : 'too old'}: version 5.8 or later with BTF is required (4.18 on Red Hat Enterprise Linux).`,
      facts === undefined ? 'The runtime is unknown.' : `The runtime is ${runtime}.`,
    ],
    protocols: canRun === false ? [] : protocols,
    joinsTraces: facts?.joinsTraces ?? 'unknown',
    missing: [
      ...(facts?.missing ?? []),
      'methods of gRPC connections that began before the agent',
      'spans within the process',
    ],
  };
};
