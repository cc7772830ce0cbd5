//! What the facts cite.

use super::fact::Source;

pub(super) const HC26: Source = Source {
    key: "HC26",
    title: "Dataflow at Scale: the SN50 RDU (Hot Chips 38 slide deck, 45 slides)",
    publisher: "SambaNova / R. Prabhakar",
    date: "2026-08-25",
    url: "https://hc2026.hotchips.org/program/",
};
pub(super) const BLOG26: Source = Source {
    key: "BLOG26",
    title: "Hot Chips 2026: Dataflow at Scale",
    publisher: "SambaNova blog",
    date: "2026-09-02",
    url: "https://sambanova.ai/blog/hot-chips-2026-dataflow-at-scale",
};
pub(super) const STH26: Source = Source {
    key: "STH26",
    title: "SambaNova's SN50 RDU for AI at Hot Chips 2026",
    publisher: "ServeTheHome (R. Smith)",
    date: "2026-08-25",
    url: "https://www.servethehome.com/sambanovas-sn50-rdu-for-ai-at-hot-chips-2026/",
};
pub(super) const PROD: Source = Source {
    key: "PROD",
    title: "RDU AI chips product page",
    publisher: "SambaNova",
    date: "accessed 2026-09",
    url: "https://sambanova.ai/products/rdu-ai-chips",
};
pub(super) const RACK: Source = Source {
    key: "RACK",
    title: "SambaRack product page",
    publisher: "SambaNova",
    date: "accessed 2026-09",
    url: "https://sambanova.ai/products/sambarack",
};
pub(super) const PR26: Source = Source {
    key: "PR26",
    title: "SambaNova unveils SN50, Intel collaboration and $350M round (press release)",
    publisher: "SambaNova / Business Wire",
    date: "2026-02-24",
    url: "https://sambanova.ai/press/sambanova-unveils-fastest-chip-for-agentic-ai-collaborates-with-intel-and-raises-350m",
};
pub(super) const SN40L: Source = Source {
    key: "SN40L",
    title: "SambaNova SN40L: Scaling the AI Memory Wall with Dataflow and Composition of Experts, arXiv 2405.07518v2 (MICRO 2024)",
    publisher: "SambaNova",
    date: "2024",
    url: "https://arxiv.org/abs/2405.07518",
};
pub(super) const HC24: Source = Source {
    key: "HC24",
    title: "SambaNova SN40L RDU, Hot Chips 2024 slides",
    publisher: "SambaNova / R. Prabhakar",
    date: "2024-08-26",
    url: "https://hc2024.hotchips.org/assets/program/conference/day1/48_HC2024.Sambanova.Prabhakar.final-withoutvideo.pdf",
};
pub(super) const STH24: Source = Source {
    key: "STH24",
    title: "SambaNova SN40L RDU for trillion-parameter AI models",
    publisher: "ServeTheHome",
    date: "2024-08",
    url: "https://servethehome.com/sambanova-sn40l-rdu-for-trillion-parameter-ai-models",
};
pub(super) const RACK40: Source = Source {
    key: "RACK40",
    title: "SambaRack SN40L-16 data sheet 070925-01",
    publisher: "SambaNova",
    date: "2025-07-09",
    url: "https://sambanova.ai/hubfs/SambaRack%20data%20sheet%20template%2007%2009%2025.pdf",
};
pub(super) const SITE40: Source = Source {
    key: "SITE40",
    title: "DataScale SN40L rack components and cabling",
    publisher: "SambaNova documentation",
    date: "accessed 2026",
    url: "https://docs-staging.sambanova.ai/hardware/latest/cabling.html",
};
pub(super) const PR40: Source = Source {
    key: "PR40",
    title: "SambaNova unveils the SN40L (press release)",
    publisher: "SambaNova / Business Wire",
    date: "2023-09-19",
    url: "https://www.businesswire.com/news/home/20230919534495/en/",
};
pub(super) const DAC25: Source = Source {
    key: "DAC25",
    title: "SambaNova SN40L: Unleashing Agentic AI with Dataflow (62nd DAC, session 258)",
    publisher: "SambaNova",
    date: "2025-06",
    url: "https://62dac.conference-program.com/presentation/?id=SSSN027&sess=sess258",
};
pub(super) const CS149: Source = Source {
    key: "CS149",
    title: "Stanford CS149 lecture on dataflow / SN40L, slide 47",
    publisher: "Stanford",
    date: "2024",
    url: "https://cs149.stanford.edu",
};
pub(super) const TNP22: Source = Source {
    key: "TNP22",
    title: "SambaNova Doubles Up Chips To Chase AI Foundation Models",
    publisher: "The Next Platform",
    date: "2022-09-17",
    url: "https://www.nextplatform.com/2022/09/17/sambanova-doubles-up-chips-to-chase-ai-foundation-models/",
};
pub(super) const TNP21: Source = Source {
    key: "TNP21",
    title: "A Simultaneous Boost for AI, Traditional HPC (sponsored)",
    publisher: "The Next Platform",
    date: "2021-02-16",
    url: "https://www.nextplatform.com/2021/02/16/a-simultaneous-boost-for-ai-traditional-hpc/",
};
pub(super) const HPCW22: Source = Source {
    key: "HPCW22",
    title: "SambaNova launches second-gen DataScale system",
    publisher: "HPCwire",
    date: "2022-09-14",
    url: "https://www.hpcwire.com/2022/09/14/sambanova-launches-second-gen-datascale-system/",
};
pub(super) const ALCF: Source = Source {
    key: "ALCF",
    title: "ALCF AI Testbed user guide, SambaNova section and system table",
    publisher: "Argonne Leadership Computing Facility",
    date: "2022-2024",
    url: "https://github.com/argonne-lcf/user-guides/tree/main/docs/ai-testbed/sambanova",
};
pub(super) const TRANS30: Source = Source {
    key: "TRANS30",
    title: "Transition to SN30",
    publisher: "SambaNova documentation",
    date: "2023",
    url: "https://docs.sambanova.ai/developer/latest/transition-to-sn30.html",
};
pub(super) const HC21: Source = Source {
    key: "HC21",
    title: "SambaNova SN10 RDU, Hot Chips 33 slides",
    publisher: "SambaNova",
    date: "2021-08-24",
    url: "https://hc33.hotchips.org/assets/program/conference/day2/SambaNova%20HotChips%202021%20Aug%2023%20v1.pdf",
};
pub(super) const STH21: Source = Source {
    key: "STH21",
    title: "SambaNova SN10 RDU at Hot Chips 33",
    publisher: "ServeTheHome",
    date: "2021-08-24",
    url: "https://www.servethehome.com/sambanova-sn10-rdu-at-hot-chips-33/",
};
pub(super) const ISSCC22: Source = Source {
    key: "ISSCC22",
    title: "SambaNova SN10 RDU: A 7nm Dataflow Architecture to Accelerate Software 2.0, ISSCC 2022 pp. 350-352",
    publisher: "IEEE",
    date: "2022",
    url: "https://doi.org/10.1109/ISSCC42614.2022.9731612",
};
pub(super) const PLAST: Source = Source {
    key: "PLAST",
    title: "Plasticine: A Reconfigurable Architecture For Parallel Patterns, ISCA 2017",
    publisher: "ACM / Stanford",
    date: "2017-06",
    url: "https://doi.org/10.1145/3079856.3080256",
};
