"""Where the corpora come from, and their licences."""

from spor_tasks.corpora.archive import Archive
from spor_tasks.corpora.repository import Licence, Repository

SPOR = Repository(
    name="xzy-xzy/SPOR",
    commit="ea664bb9d778a18f1a391d34e3ff385ab981d73c",
    manifest="manifest.tsv",
    variable="SPOR_DATA_DIR",
    fetch="spor data fetch",
    corpora=("webnlg", "e2e"),
)
"""What was published with the SPOR paper: both corpora, and the sets that were made of them."""

LOGICNLG = Repository(
    name="wenhuchen/LogicNLG",
    commit="4e06428eb48a68b6005cc319ff8019b273d7a894",
    manifest="logicnlg.tsv",
    variable="LOGICNLG_DATA_DIR",
    fetch="spor data fetch --corpus logicnlg",
    corpora=("logicnlg",),
)

TABFACT = Repository(
    name="wenhuchen/Table-Fact-Checking",
    commit="2ab782ba42b5808076ac91fec846473aa5315a79",
    manifest="tabfact.tsv",
    variable="TABFACT_DATA_DIR",
    fetch="spor data fetch --corpus logicnlg",
    corpora=("logicnlg",),
)
"""TabFact, which LogicNLG was made from; no file of it is needed."""

VIGGO = Repository(
    name="jjuraska/data2text-nlg",
    commit="0f1fbbd8ac623cdb602e3f35f32e49f35dd1db5b",
    manifest="viggo.tsv",
    variable="VIGGO_DATA_DIR",
    fetch="spor data fetch --corpus viggo",
    corpora=("viggo",),
)
"""ViGGO, as its first author publishes it with his code."""

REPOSITORIES = (SPOR, LOGICNLG, TABFACT, VIGGO)

TOTTO = Archive(
    corpus="totto",
    url="https://storage.googleapis.com/totto-public/totto_data.zip",
    page="https://github.com/google-research-datasets/ToTTo",
    variable="TOTTO_DATA_DIR",
    fetch="spor data fetch --corpus totto",
    folder="totto_data",
    files=("totto_train_data.jsonl", "totto_dev_data.jsonl", "unlabeled_totto_test_data.jsonl"),
    notes=("LICENSE", "LICENSE.txt", "README.md", "README.txt", "README"),
    at_most=10**9,
    unpacked=8 * 10**9,
    corpora=("totto",),
)
"""ToTTo; its address is that of its README, which names neither size nor digest."""

COMPMCTG = Archive(
    corpus="compmctg",
    url="https://drive.google.com/file/d/1qUI7u2F9gYweinAtz3bGB7B7hpkSAOby/view",
    page="https://github.com/tqzhong/CG4MCTG/tree/main/data",
    variable="COMPMCTG_DATA_DIR",
    fetch="spor data fetch --corpus yelp",
    folder="data_compmctg",
    files=tuple(
        f"{folder}/{part}.jsonl"
        for folder in ("Fyelp", "Amazon", "Yelp", "Mixture")
        for part in ("gen", "cls", "unseen")
    ),
    notes=(),
    at_most=2 * 10**9,
    unpacked=4 * 10**9,
    corpora=("fyelp", "amazon", "yelp", "mixture"),
    by_hand="data_compmctg.zip",
)
"""The four datasets of CompMCTG, each in a folder; they are on a drive."""

ARCHIVES = (TOTTO, COMPMCTG)

LICENCES = {
    "webnlg": Licence(
        "CC BY-NC-SA 4.0",
        "https://creativecommons.org/licenses/by-nc-sa/4.0/",
        "WebNLG+ (release 3.0): Gardent et al., ACL 2017; Castro Ferreira et al., WebNLG+ 2020",
    ),
    "e2e": Licence(
        "CC BY-SA 4.0",
        "https://creativecommons.org/licenses/by-sa/4.0/",
        "Cleaned E2E: Novikova et al., SIGDIAL 2017; Dušek, Howcroft and Rieser, INLG 2019",
    ),
    "viggo": Licence(
        "CC BY-SA 4.0",
        "https://creativecommons.org/licenses/by-sa/4.0/",
        "ViGGO: Juraska, Bowden and Walker, INLG 2019",
    ),
    "logicnlg": Licence(
        "CC BY-SA 4.0",
        "https://creativecommons.org/licenses/by-sa/4.0/",
        "LogicNLG: Chen et al., ACL 2020 (its sentences: MIT); tables of Wikipedia by TabFact: "
        "Chen et al., ICLR 2020",
    ),
    "totto": Licence(
        "CC BY-SA 3.0",
        "https://creativecommons.org/licenses/by-sa/3.0/",
        "ToTTo: Parikh et al., EMNLP 2020; tables and texts of Wikipedia",
    ),
    **{
        corpus: Licence(
            "unknown",  # the archive states none, and the hub knows this word
            COMPMCTG.page,
            "CompMCTG: Zhong et al., ACL 2024 (its code: MIT; no licence of the texts is stated); "
            f"{texts}",
        )
        for corpus, texts in (
            ("fyelp", "reviews of Yelp"),
            ("amazon", "reviews of Amazon"),
            ("yelp", "reviews of Yelp"),
            ("mixture", "texts of IMDB, OpeNER and SenTube"),
        )
    },
}


def path_of_set(name: str) -> str:
    """Return where a released set such as ``test_e2e_systematicity`` lies in the repository."""
    kind, corpus, _ = name.split("_", maxsplit=2)
    return f"dataset_{corpus}/{kind}/{name}/dataset.jsonl"
