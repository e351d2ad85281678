/** What an area without data shows: what it is for, why it is empty, and the next steps as buttons. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconShape } from './icon.tsx';

export const EmptyState = ({
  icon,
  title,
  actions,
  children,
}: {
  readonly icon: IconShape;
  readonly title: ComponentChildren;
  /** One or two buttons or links, the primary one first */
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}) => (
  <div class="empty-state" role="status">
    <Icon shape={icon} size={36} />
    <h2>{title}</h2>
    {children === undefined ? null : <div class="empty-text">{children}</div>}
    {actions === undefined ? null : <div class="empty-actions">{actions}</div>}
  </div>
);
