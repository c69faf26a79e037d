"""Why there is no answer; these are answers, too."""


class Endless(Exception):  # noqa: N818 - it is an answer
    """The memory has no stationary mean."""


class Infinite(Exception):  # noqa: N818 - it is an answer
    """The noise has no finite covariance."""


class Many(Exception):  # noqa: N818 - it is an answer
    """There is no fixed point, or more than one."""


class TooLarge(Exception):  # noqa: N818 - it is no answer
    """The plain way would take too long."""


class Undefined(Exception):  # noqa: N818 - it is an answer
    """The settings that the learner derives from the problem do not exist."""
