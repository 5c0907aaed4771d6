//! The papers, for people who do not know them.

use refrain_lab::figures::Paper;

/// What a paper is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    pub(super) paper: Paper,
    /// What is typed: `signals`.
    pub(super) name: &'static str,
    /// Its title, and who wrote it.
    pub(super) title: &'static str,
    pub(super) authors: &'static str,
    /// A few words for a table.
    pub(super) short: &'static str,
    /// One line for a list.
    pub(super) line: &'static str,
    /// The question, for everyone.
    pub(super) asked: &'static str,
    /// What it proposes, for those who want to read on.
    pub(super) proposes: &'static str,
    /// What Refrain does with it.
    pub(super) use_of_it: &'static str,
}

const ALL: [About; 5] = [
    About {
        paper: Paper::Signals,
        name: "signals",
        title: "A scalable crawling algorithm utilizing noisy change-indicating signals",
        authors: "R. Busa-Fekete, J. Zimmert, A. György and others",
        short: "Signals of change",
        line: "pages announce their changes, not always truthfully: which page to fetch next?",
        asked: "Sitemaps, feeds and pings announce changes, but some announcements are false and some changes are not announced. How should a crawler weigh a rumour \
                against the time that has passed?",
        proposes: "Every page gets a crawl value: the fresh requests that one more fetch, now, would earn, given the time since the last fetch and the signals since \
                   then. The crawler fetches the page whose value is greatest. GREEDY ignores signals, CIS believes all of them, NCIS knows how good they are; the \
                   approximations cut off the sums in NCIS. They are compared with the best rates that a scheduler without signals can have.",
        use_of_it: "The value with noisy signals is what Refrain ranks pages by; precision and recall of each kind of signal are learned as the crawl goes.",
    },
    About {
        paper: Paper::Polite,
        name: "polite",
        title: "A polite policy for revisiting web pages",
        authors: "C. Pereira de Souza, E. S. Laber, C. D. Valentim, E. T. Cardoso, 2007",
        short: "Politeness",
        line: "a day of fetches, and no host asked twice within seconds: what is lost, and which plan loses least?",
        asked: "A crawler has a day and so many fetches, but it must not ask a server twice within fifteen seconds, and most pages are on few servers. How fresh can its \
                copies be?",
        proposes: "Three steps: give each page a number of fetches, as far as its host can take them; spread the fetches of a host evenly over the day in the order of \
                   their best moments (MERGE); let whichever crawler is free take the most overdue one. The plan is called PSP. Beside it stand MP2, which \
                   leaves out the second step, M-Wolf, which plans without politeness and then obeys it, and three bounds that no plan can beat in its class.",
        use_of_it: "`refrain plan` starts from the same numbers of fetches and then orders the fetches of a host such that all its pages lose least, which ends closer to the bound.",
    },
    About {
        paper: Paper::Rates,
        name: "rates",
        title: "Online algorithms for estimating change rates of web pages",
        authors: "K. Avrachenkov, K. Patil, G. Thoppe, 2020",
        short: "Rates of change",
        line: "a crawler sees only whether a page has changed since its last look: how often does it really change?",
        asked: "Looking twice, a crawler sees whether a page has changed, but not how often in between. How can it learn the true rate of change, page by page, without \
                remembering everything?",
        proposes: "Three estimators that are updated with each look and need no memory of the earlier ones: one by the law of large numbers (LLN), two by stochastic \
                   approximation (SA, and SAM with momentum). They are compared with counting naively, with maximum likelihood and with the method of moments.",
        use_of_it: "Refrain remembers 64 bytes for a page, from which every estimator here can be had; by default it keeps a distribution of the rate rather than a number, with a \
                    prior learned from all pages.",
    },
    About {
        paper: Paper::Ephemeral,
        name: "ephemeral",
        title: "Timely crawling of high-quality ephemeral new content",
        authors: "D. Lefortier, L. Ostroumova, E. Samosvat, P. Serdyukov, 2013",
        short: "Short-lived pages",
        line: "new pages matter for hours only: which pages that link to them to visit, and how often?",
        asked: "A news article is read today and forgotten tomorrow. How should a crawler share its fetches between pages that show links to new articles, and the \
                articles themselves?",
        proposes: "A new page earns clicks that fade exponentially. Sources of links are visited at the rates that earn most clicks in all, and what they show is fetched \
                   while it is still worth it; how good sources are is learned from the clicks on earlier finds (ECHO). It is compared with visiting in turn \
                   and with greedy rules.",
        use_of_it: "Refrain lets sources of links and ordinary pages compete for one budget in one currency: the fresh requests that a fetch earns.",
    },
    About {
        paper: Paper::Cost,
        name: "cost",
        title: "Keeping a search engine index fresh: risk and optimality in estimating refresh rates for web pages",
        authors: "C. Grimes, D. Ford, E. Tassone, 2008",
        short: "The cost of refreshing",
        line: "a fetch costs something, and so does a stale copy: how often to look, and what does not knowing cost?",
        asked: "Each fetch costs something, and each hour in which a copy is out of date costs something. How often should one look, and how much more does it cost if the \
                page's rate of change has to be found out on the way?",
        proposes: "The cost per hour of looking every t hours has one minimum, which depends on the mean time between changes and on the ratio of the two costs. Who does not \
                   know the mean estimates it by maximum likelihood with two made-up observations, and looks at a fixed fraction of the estimate.",
        use_of_it: "The cheapest interval is the crawl value at a fixed price: `refrain optimum` takes costs as well as budgets. Where a rate is unsure, the interval can be made more \
                    careful, to bound the chance of a very stale copy.",
    },
];

impl About {
    pub(super) fn of(paper: Paper) -> &'static Self {
        &ALL[paper as usize]
    }

    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        ALL.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_paper_is_where_it_is_looked_for() {
        for about in About::all() {
            assert_eq!(About::of(about.paper).name, about.name);
        }
    }
}
