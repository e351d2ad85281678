/** Every component in its states, for development */
import { Bell, Gauge, Pencil, Plus, RefreshCw, Search, Trash2 } from 'lucide';
import { type ComponentChildren, render } from 'preact';
import { useState } from 'preact/hooks';
import { Badge } from '../badge.tsx';
import { Button, ButtonGroup, ButtonLink, IconButton } from '../button.tsx';
import { Card } from '../card.tsx';
import { Confirmation } from '../confirmation.tsx';
import { CopyButton } from '../copy-button.tsx';
import { Dialog } from '../dialog.tsx';
import { EmptyState } from '../empty-state.tsx';
import { Menu } from '../menu.tsx';
import { Popover } from '../popover.tsx';
import { Skeleton, SkeletonRows } from '../skeleton.tsx';
import { Sparkline } from '../sparkline.tsx';
import { StatTile } from '../stat-tile.tsx';
import { Tabs } from '../tabs.tsx';
import { TooltipLayer } from '../tooltip.tsx';

const trend = [4, 5, 4, 6, 8, 7, 5, 4, undefined, 5, 12, 14, 9, 6];

const OpenedDialog = () => {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Open dialog</Button>
      {isOpen ? (
        <Dialog title="Keyboard shortcuts" onClose={() => setIsOpen(false)}>
          Text of the dialog.
        </Dialog>
      ) : null}
    </>
  );
};

const samples: Readonly<Record<string, () => ComponentChildren>> = {
  Button: () => (
    <>
      <Button kind="primary" icon={Plus}>
        Create rule
      </Button>
      <Button icon={Pencil}>Edit</Button>
      <Button kind="quiet">Cancel</Button>
      <Button kind="danger" icon={Trash2}>
        Delete
      </Button>
      <Button disabled>Disabled</Button>
      <Button aria-pressed>Pressed</Button>
      <ButtonLink url="#">Link</ButtonLink>
    </>
  ),
  'Icon button and group': () => (
    <>
      <IconButton label="Refresh" icon={RefreshCw} />
      <ButtonGroup label="Time range">
        <Button>Last hour</Button>
        <IconButton label="Refresh" icon={RefreshCw} />
        <Button>Auto</Button>
      </ButtonGroup>
    </>
  ),
  Menu: () => (
    <Menu
      label="Actions"
      items={[
        { title: 'Edit', icon: Pencil, url: '#' },
        { title: 'Search', icon: Search, onSelect: () => undefined, isSelected: true },
        { title: 'Delete', icon: Trash2, isDangerous: true, onSelect: () => undefined },
      ]}
    />
  ),
  Popover: () => <Popover title="Last hour">{() => 'Content of the panel'}</Popover>,
  Tabs: () => (
    <Tabs
      label="Logs"
      tabs={[
        { title: 'Events', url: '#1', isCurrent: true },
        { title: 'Patterns', url: '#2', isCurrent: false, count: 12 },
      ]}
    />
  ),
  Badge: () => (
    <>
      <Badge tone="critical">Firing</Badge>
      <Badge tone="warning">Pending</Badge>
      <Badge tone="ok">OK</Badge>
      <Badge tone="info">Info</Badge>
      <Badge>Disabled</Badge>
    </>
  ),
  'Dialog and confirmation': () => (
    <>
      <OpenedDialog />
      <Confirmation label="Delete" title="Delete the rule “Checkout latency”?" onConfirm={() => undefined}>
        Its alerts are resolved.
      </Confirmation>
    </>
  ),
  'Copy button': () => (
    <>
      <CopyButton text="npm start" />
      <CopyButton text="npm start" isIcon />
    </>
  ),
  'Stat tile': () => (
    <div class="columns grow">
      <StatTile title="Requests" value="12.4 req/s" change={0.12} trend={trend} />
      <StatTile title="Error rate" value="4.8 %" change={2.4} isWorse="up" trend={trend} url="#" />
      <StatTile title="p95 latency" value="216 ms" change={-0.08} isWorse="up" trend={trend} />
      <StatTile title="Services" value="7" note="no earlier data" />
    </div>
  ),
  Sparkline: () => <Sparkline values={trend} />,
  Card: () => (
    <Card title="Operations" note="by total time" actions={<Button kind="quiet">View all</Button>}>
      Content of the card
    </Card>
  ),
  'Empty state': () => (
    <EmptyState
      icon={Gauge}
      title="No SLOs yet"
      actions={
        <>
          <Button kind="primary" icon={Plus}>
            New SLO
          </Button>
          <Button>Import</Button>
        </>
      }
    >
      An SLO states how reliable a service should be, and alerts when its error budget burns too fast.
    </EmptyState>
  ),
  Skeleton: () => (
    <div class="grow">
      <Skeleton />
      <Skeleton height={80} />
      <SkeletonRows rows={3} />
    </div>
  ),
  Fields: () => (
    <>
      <label>
        Name <input placeholder="Checkout latency" />
      </label>
      <label>
        Severity{' '}
        <select>
          <option>critical</option>
        </select>
      </label>
      <label>
        <input type="checkbox" checked /> Enabled
      </label>
      <Button kind="primary" icon={Bell}>
        Create rule
      </Button>
    </>
  ),
};

const Gallery = () => (
  <main class="page">
    <div class="page-head">
      <h1>Components</h1>
      {(['light', 'dark'] as const).map((theme) => (
        <Button
          key={theme}
          onClick={() => {
            document.documentElement.dataset['theme'] = theme;
          }}
        >
          {theme}
        </Button>
      ))}
    </div>
    {Object.entries(samples).map(([title, Sample]) => (
      <Card key={title} title={title}>
        <div class="page-head">
          <Sample />
        </div>
      </Card>
    ))}
    <TooltipLayer />
  </main>
);

render(<Gallery />, document.body);
