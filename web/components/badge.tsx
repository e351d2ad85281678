/** State as a colored label. The word carries the meaning, the color repeats it. */
import type { ComponentChildren } from 'preact';

export type Tone = 'critical' | 'warning' | 'ok' | 'info' | 'neutral';

export const Badge = ({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) => <span class={`badge ${tone}`}>{children}</span>;
