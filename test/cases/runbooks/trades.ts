/**
 * Runbooks of a brewery and of a broadcaster, and questions of people on call. The broadcaster was evaluated once,
 * after tuning on the brewery.
 */
export interface QuestionedRunbook {
  readonly title: string;
  readonly content: string;
  readonly questions: readonly string[];
}

const runbook = (title: string, content: string, ...questions: readonly string[]): QuestionedRunbook => ({
  title,
  content: `# ${title}\n\n${content}`,
  questions,
});

export const brewery: readonly QuestionedRunbook[] = [
  runbook(
    'Fermenter temperature out of range',
    '## Impact\nYeast dies above 28 °C and stalls below 14 °C.\n\n## Action\nCheck the glycol valve of the tank in tank-control. If the valve is open and the tank still warms, switch the chiller to pump B and call the cellar.',
    'the tank is getting too warm, what do I do',
    'glycol valve is open but the temperature keeps rising',
  ),
  runbook(
    'Tank controller offline',
    'The PLC of a tank answers no Modbus requests.\n\n## Action\nPower-cycle the gateway in cabinet 4, never the PLC itself during a fermentation. Values of the last hour are replayed when the connection returns.',
    'plc does not answer modbus',
    'no values from a tank since an hour',
  ),
  runbook(
    'Bottling line stopped',
    'line-supervisor reports zero bottles for two minutes.\n\n## Action\nLook for a label jam first. A reset of the filler needs the shift lead. Do not restart line-supervisor: its counters are the tax record.',
    'bottling has stopped, can I restart the supervisor',
    'zero bottles per minute on the filler',
  ),
  runbook(
    'Excise report rejected',
    'The customs office refuses the monthly declaration.\n\n## Action\nCompare litres in the ledger with the bottle counter. A difference above 0.5 % is usually a batch that was booked twice. Correct the batch, then resubmit before the 7th.',
    'tax declaration was refused by customs',
    'litres in the ledger differ from the bottles we counted',
  ),
  runbook(
    'Keg tracking database full',
    'keg_events grows by 2 GB a day.\n\n## Action\nDrop partitions older than 90 days with `keg-cli prune`. If the volume is above 95 %, pause the importer first, or the prune has no room to sort.',
    'disk of the keg database is almost full',
    'how do I prune old keg events',
  ),
  runbook(
    'Web shop payment failures',
    'Payments fail with code 402 or 504.\n\n## Action\n504: the provider is slow; switch to the secondary provider with the flag `psp=b`. 402: cards are declined, nothing to do unless it exceeds 20 %.',
    'customers cannot pay in the shop, gateway timeouts',
    'many cards are declined, is it our fault',
  ),
  runbook(
    'Recipe service returns old versions',
    'Brewers see yesterday’s recipe.\n\n## Action\nThe cache holds recipes for a day. Flush key `recipe:*` in Redis, then reload the screen. Never edit a recipe while a brew uses it.',
    'brewers see an outdated recipe',
    'how to flush the recipe cache',
  ),
  runbook(
    'Certificate of the supplier portal expires',
    'Renewal is manual, because the portal is behind the firewall of the group.\n\n## Action\nRequest the certificate from group IT at least five days before. Install with `portal-cert install` and reload nginx.',
    'tls certificate of the portal runs out next week',
    'renew the supplier portal cert',
  ),
  runbook(
    'Grain silo level sensor wrong',
    'The radar sensor shows 0 or 100 % for hours.\n\n## Action\nDust on the antenna: ask the yard to clean it. Until then enter the level by hand in silo-board, or the planner orders too much malt.',
    'silo shows empty but it is full',
    'radar level sensor stuck',
  ),
  runbook(
    'Orders of distributors late',
    'EDI messages wait in the queue edi-in.\n\n## Action\nOne malformed message blocks the rest. Move it to edi-dead with `edi skip`, tell the distributor, then watch the queue drain.',
    'edi queue is growing',
    'one broken message blocks distributor orders',
  ),
  runbook(
    'Boiler pressure alarm',
    'Pressure above 6 bar.\n\n## Action\nThis is a safety alarm: call the plant operator at once, then look at the dashboard. Software must never open the relief valve.',
    'steam boiler over 6 bar',
    'can we open the relief valve remotely',
  ),
  runbook(
    'Label printer driver crash loops',
    'label-agent restarts every minute after the update to 3.2.\n\n## Action\nRoll back to 3.1 with `helm rollback label-agent`. The cause is a font that is missing in the image.',
    'label agent keeps restarting',
    'pods of the label printer crash after the update',
  ),
  runbook(
    'Lab results missing',
    'The LIMS export runs at 02:00 and takes 40 minutes.\n\n## Action\nStart the export again with `lims export --day`. A batch may not be released without the pH value.',
    'ph values from the lab are missing this morning',
    'rerun the nightly lims export',
  ),
  runbook(
    'Warehouse scanners cannot sign in',
    'All scanners use the realm `handhelds`.\n\n## Action\nIf only one hall is affected, it is the access point. If all are, the signing key of the realm was rotated: restart scanner-auth.',
    'handheld scanners fail to log in',
    'nobody in hall 2 can use a scanner',
  ),
  runbook(
    'Forecast job does not finish',
    'demand-forecast needs three hours on two cores.\n\n## Action\nAn out-of-memory kill is usual after a new product. Raise the limit to 12 GiB, and run it again with `--resume`.',
    'demand forecast was oom killed',
    'the planning job runs since last night and never ends',
  ),
];

export const broadcaster: readonly QuestionedRunbook[] = [
  runbook(
    'Playout channel black',
    'The channel sends black frames for more than three seconds.\n\n## Action\nSwitch to the backup chain with `playout take backup`. Then find the missing asset in the as-run log. Tell master control before you switch back.',
    'viewers see a black screen on channel 2',
    'how do I take the backup chain',
  ),
  runbook(
    'Subtitles out of sync',
    'Subtitles are later than speech by more than two seconds.\n\n## Action\nThe encoder adds its delay twice after a restart. Set `stl-offset` to zero and reload subtitle-inserter.',
    'captions lag behind the sound',
    'subtitle delay after an encoder restart',
  ),
  runbook(
    'Ad insertion fails',
    'SCTE markers arrive, but the break shows the slate.\n\n## Action\nCheck the decision server: HTTP 204 means that no campaign is booked. A timeout above 300 ms needs the fallback list `house-ads`.',
    'the slate is shown instead of commercials',
    'ad decision server is slow',
  ),
  runbook(
    'CDN origin overloaded',
    'The origin answers 503 above 8 Gbit/s.\n\n## Action\nEnable the origin shield, and shorten no TTL: short TTLs cause the load. If it is a live event, turn on the second origin.',
    'origin returns 503 during the match',
    'too much traffic reaches our origin from the cdn',
  ),
  runbook(
    'Ingest of agency feeds stopped',
    'No new item from an agency for fifteen minutes.\n\n## Action\nThe satellite receiver loses its lock in heavy rain. Use the fibre path: `feed select fibre`. Items that were missed are fetched with `feed backfill`.',
    'nothing from the news agency since a quarter of an hour',
    'backfill missed agency items',
  ),
  runbook(
    'Archive restore is slow',
    'Restores wait for tape drives.\n\n## Action\nOnly four drives exist. News has priority 1: raise a job with `archive prio`. Do not cancel jobs, because the tape is then rewound.',
    'restore from tape takes hours',
    'make a news clip come first in the archive queue',
  ),
  runbook(
    'Loudness violation',
    'Integrated loudness is above -23 LUFS.\n\n## Action\nThe limiter was bypassed, usually by a studio preset. Enable it in audio-core; the fine is due after the third violation in a week.',
    'programme is too loud',
    'limiter is bypassed in the studio',
  ),
  runbook(
    'Electronic programme guide empty',
    'Receivers show no information.\n\n## Action\nThe EIT generator needs a schedule for eight days. If traffic exported fewer, ask for a new export and run `epg rebuild`.',
    'tv guide has no entries',
    'rebuild the programme guide',
  ),
  runbook(
    'Newsroom database replication behind',
    'The replica is more than 60 s behind.\n\n## Action\nA long report blocks the replay: end the query that is oldest on the replica. Do not fail over while the lag is above zero.',
    'replica lag of the newsroom database',
    'may I fail over with replication lag',
  ),
  runbook(
    'Graphics engine licence lost',
    'The dongle server is unreachable and graphics have a watermark.\n\n## Action\nRestart licence-proxy in the same rack. A grace period of two hours starts with the watermark.',
    'watermark on the on-air graphics',
    'graphics say there is no licence',
  ),
  runbook(
    'Transcoder farm queue long',
    'More than 200 jobs wait.\n\n## Action\nAdd spot nodes with the label `xcode=burst`. Jobs of the sport desk have a queue of their own; never merge the queues.',
    'hundreds of transcoding jobs are waiting',
    'add nodes for encoding',
  ),
  runbook(
    'Mobile app push notifications twice',
    'Viewers get each push two times.\n\n## Action\nTwo schedulers hold the lease. Stop the one with the older epoch: `push lease show`.',
    'users receive duplicate pushes',
    'two schedulers send the same notification',
  ),
  runbook(
    'Weather studio clock drift',
    'Cameras jump when the cut is made.\n\n## Action\nThe PTP grandmaster changed. Pin the grandmaster to the device in rack 12, and check the offset: it must be below 1 µs.',
    'ptp offset too large',
    'camera cuts jump in the weather studio',
  ),
  runbook(
    'Live transcription stops',
    'No text for a minute.\n\n## Action\nThe speech model is reloaded when GPU memory is exhausted. Move the second language to another GPU. Text is not repeated later.',
    'no live captions from speech recognition',
    'gpu memory exhausted by the speech model',
  ),
  runbook(
    'Voting closes late',
    'Votes are counted after the end of the show.\n\n## Action\nThe gateway buffers for 30 s. Votes with a stamp after the end are void: run `vote seal` and give the notary the sealed file.',
    'televoting still accepts votes after the show',
    'how do I seal the vote',
  ),
];
