"""What every journal promises, as tests. An adapter subclasses the suite and gives it a place.

class TestMyJournal(JournalConformance):
    @pytest.fixture
    def place(self): ...        # a function that opens one more journal on the same store
"""

from chargehand.testing.journals.archive import ArchiveConformance
from chargehand.testing.journals.claiming import ClaimingConformance
from chargehand.testing.journals.fencing import FencingConformance
from chargehand.testing.journals.history import HistoryConformance
from chargehand.testing.journals.mail import MailConformance
from chargehand.testing.journals.scenes import Place

__all__ = ["JournalConformance", "Place"]


class JournalConformance(
    ClaimingConformance, FencingConformance, MailConformance, HistoryConformance, ArchiveConformance
):
    """Every promise of the Journal port that one process can see."""
