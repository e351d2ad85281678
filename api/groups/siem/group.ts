import { fileBaselineParts } from '../../../schemas/resources/file-baseline.ts';
import { retroHunts } from '../../../schemas/resources/retro-hunt.ts';
import { caseComments, caseEvidence } from '../../../schemas/resources/security-case.ts';
import { signalTriages } from '../../../schemas/resources/signal-triage.ts';
import {
  indicatorBlocks,
  indicatorHunts,
  threatFeedStates,
  threatIndicators,
} from '../../../schemas/resources/threat-intel.ts';
import { defineGroup } from '../define-group.ts';
import { backtestDetectionRule } from './backtest-rule.ts';
import { caseResource } from './case.ts';
import { attachCaseEvidence, commentOnCase } from './case-additions.ts';
import { getMitreCoverage } from './coverage.ts';
import { getEntity, listEntities } from './entities.ts';
import { feedResource } from './feed.ts';
import { fieldTableResource } from './field-table.ts';
import { baselineResource, captureFileBaseline, deleteFileBaseline, listBaselineFiles } from './file-baseline.ts';
import { listFileChanges } from './file-changes.ts';
import { exportDetectionRules, importDetectionRules } from './import-rules.ts';
import { deleteIndicator, listIndicators } from './indicator.ts';
import { addIndicators } from './indicators.ts';
import { placeholderResource } from './placeholder.ts';
import { previewRuleException } from './preview-exception.ts';
import { listRetroHunts } from './retro-hunts.ts';
import { ruleResource } from './rule.ts';
import { getSignal, listSignals, triageSignal } from './signals.ts';
import { listThreatMatches } from './threat-matches.ts';
import { testDetectionRule, validateDetectionRules } from './try-rule.ts';

export const siemGroup = defineGroup({
  name: 'siem',
  summary: 'Signals, detection rules, file integrity, threat intelligence and cases.',
  entitlement: 'siem',
  resources: [ruleResource, caseResource, fieldTableResource, placeholderResource, feedResource, baselineResource],
  operations: [
    listSignals,
    getSignal,
    triageSignal,
    listEntities,
    getEntity,
    getMitreCoverage,
    importDetectionRules,
    exportDetectionRules,
    validateDetectionRules,
    testDetectionRule,
    backtestDetectionRule,
    previewRuleException,
    listRetroHunts,
    commentOnCase,
    attachCaseEvidence,
    listIndicators,
    addIndicators,
    deleteIndicator,
    listThreatMatches,
    listFileChanges,
    captureFileBaseline,
    listBaselineFiles,
    deleteFileBaseline,
  ],
  collections: [
    retroHunts,
    caseComments,
    caseEvidence,
    threatIndicators,
    signalTriages,
    indicatorBlocks,
    indicatorHunts,
    threatFeedStates,
    fileBaselineParts,
  ],
  planned: [],
});
