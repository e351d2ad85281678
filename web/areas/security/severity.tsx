import { Badge, type Tone } from '../../components/badge.tsx';

const tones: Readonly<Record<string, Tone>> = { critical: 'critical', high: 'warning', medium: 'info' };

/** Severity or priority as a label. */
export const Severity = ({ severity }: { readonly severity: string }) => (
  <Badge tone={tones[severity] ?? 'neutral'}>{severity}</Badge>
);
