-- bell-without-names.sql (MariaDB): as bell.sql, while there is nothing to look at.

DO RELEASE_LOCK(:before), RELEASE_LOCK(:older), GET_LOCK(:armed, 0), SLEEP(:seconds)
